//! Which variants a plan compares, as `plan.json` keeps it. Plans of before the floor and the metrics were kept
//! hold a bare list of variants, which is read too.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, de};

/// Which variants are compared, and how.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparePlan {
    /// The variant that others are compared with, then the others.
    pub variants: Vec<String>,
    /// Relative change below which a difference is noise; `None` is the comparison's own.
    pub effect_floor: Option<f64>,
    /// Metrics to compare, by their path in `results.json`; `None` is the usual ones.
    pub metrics: Option<Vec<String>>,
}

/// The same with every key.
#[derive(Deserialize)]
struct Whole {
    variants: Vec<String>,
    effect_floor: Option<f64>,
    metrics: Option<Vec<String>>,
}

impl<'de> Deserialize<'de> for ComparePlan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListOrTable;
        impl<'de> de::Visitor<'de> for ListOrTable {
            type Value = ComparePlan;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table with `variants`, or a list of them")
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<ComparePlan, A::Error> {
                let variants = Vec::deserialize(SeqAccessDeserializer::new(list))?;
                Ok(ComparePlan { variants, effect_floor: None, metrics: None })
            }
            fn visit_map<A: de::MapAccess<'de>>(self, table: A) -> Result<ComparePlan, A::Error> {
                let Whole { variants, effect_floor, metrics } = Whole::deserialize(MapAccessDeserializer::new(table))?;
                Ok(ComparePlan { variants, effect_floor, metrics })
            }
        }
        deserializer.deserialize_any(ListOrTable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_plans_list_is_read_and_a_later_ones_table_comes_back() {
        let earlier: ComparePlan = serde_json::from_str(r#"["a", "b"]"#).unwrap();
        assert_eq!((earlier.variants.as_slice(), earlier.effect_floor), (&["a".to_owned(), "b".to_owned()][..], None));
        let later = ComparePlan { effect_floor: Some(0.02), metrics: Some(vec!["rtf.mean".to_owned()]), ..earlier };
        assert_eq!(serde_json::from_str::<ComparePlan>(&serde_json::to_string(&later).unwrap()).unwrap(), later);
        assert!(serde_json::from_str::<ComparePlan>("3").unwrap_err().to_string().contains("`variants`"));
    }
}
