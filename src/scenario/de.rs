//! Deserialises from the document tree, with errors that stay data.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::fault::Fault;
use super::node::{Data, Node};

impl<'de> IntoDeserializer<'de, Fault> for &'de Node {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.data {
            Data::Null | Data::Dropped => visitor.visit_unit(),
            Data::Bool(value) => visitor.visit_bool(*value),
            Data::Integer(value) => visitor.visit_i64(*value),
            Data::Unsigned(value) => visitor.visit_u64(*value),
            Data::Float(value) => visitor.visit_f64(*value),
            Data::Text(text) => visitor.visit_borrowed_str(text),
            Data::List(list) => {
                let kept = list.iter().filter(|node| node.data != Data::Dropped);
                visitor.visit_seq(SeqDeserializer::new(kept))
            }
            Data::Table(table) => {
                let kept = table.iter().filter(|(_, node)| node.data != Data::Dropped);
                visitor.visit_map(MapDeserializer::new(kept.map(|(key, node)| (key.as_str(), node))))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.data {
            Data::Null | Data::Dropped => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.data {
            Data::Text(text) => visitor.visit_enum(text.as_str().into_deserializer()),
            _ => Err(Fault::word(variants)),
        }
    }

    /// A table with known keys; serde would also read a list into one, by position.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.data {
            Data::List(_) => Err(Error::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}
