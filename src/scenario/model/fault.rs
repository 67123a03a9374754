//! `[simulator.faults]`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::catalog::{FaultKind, FaultRule, each_fault};

/// How often a fault is committed: a share of the requests, or a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FaultSpec {
    /// Share of the requests, 0 to 1.
    pub rate: f64,
    /// Requests by their number since the server's start, from 0.
    pub at: Vec<u64>,
}

macro_rules! tables {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:ident $family:ident $chaos:literal;)+) => {
        /// Faults that the simulator commits, by the share of requests that draw each, or as
        /// `{ rate = 0.01, at = [3] }` with request numbers since the server's start, from 0. Seeded: the same
        /// requests in the same order meet the same faults. Warm-up requests draw too, and a fault in the warm-up
        /// ends a run, so give `warmup.requests = 0`.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct Faults {
            /// All faults, at this multiple of their shares in the chaos mix; a fault that is given by itself
            /// keeps its own.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub chaos: Option<f64>,
            $($(#[doc = $doc])+ #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<FaultSpec>,)+
        }

        impl Faults {
            /// The faults that are given, chaos aside.
            pub fn given(&self) -> Vec<FaultRule> {
                let all = [$((FaultKind::$variant, &self.$name)),+];
                let rule = |(kind, spec): (FaultKind, &Option<FaultSpec>)| {
                    let FaultSpec { rate, at } = spec.clone()?;
                    Some(FaultRule { kind, rate, at })
                };
                all.into_iter().filter_map(rule).collect()
            }
        }
    };
}
each_fault!(tables);

impl Faults {
    /// What the simulator is to do.
    pub fn rules(&self) -> Vec<FaultRule> {
        FaultRule::mix(self.chaos, self.given())
    }
}

impl Serialize for FaultSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        if self.at.is_empty() {
            return serializer.serialize_f64(self.rate);
        }
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("rate", &self.rate)?;
        map.serialize_entry("at", &self.at)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for FaultSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RateOrTable;
        impl<'de> de::Visitor<'de> for RateOrTable {
            type Value = FaultSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a share of the requests from 0 to 1, or `{ rate = 0.01, at = [3] }`")
            }
            fn visit_f64<E: de::Error>(self, rate: f64) -> Result<FaultSpec, E> {
                Ok(FaultSpec { rate, at: Vec::new() })
            }
            fn visit_u64<E: de::Error>(self, rate: u64) -> Result<FaultSpec, E> {
                match u32::try_from(rate) {
                    Ok(rate) => self.visit_f64(rate.into()),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Unsigned(rate), &self)),
                }
            }
            fn visit_i64<E: de::Error>(self, rate: i64) -> Result<FaultSpec, E> {
                match u64::try_from(rate) {
                    Ok(rate) => self.visit_u64(rate),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Signed(rate), &self)),
                }
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<FaultSpec, A::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields, default)]
                #[derive(Default)]
                struct Table {
                    rate: f64,
                    at: Vec<u64>,
                }
                let Table { rate, at } = Table::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(FaultSpec { rate, at })
            }
        }
        deserializer.deserialize_any(RateOrTable)
    }
}

impl JsonSchema for FaultSpec {
    fn schema_name() -> Cow<'static, str> {
        "FaultSpec".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "number", "minimum": 0, "maximum": 1 },
                {
                    "type": "object",
                    "properties": {
                        "rate": {
                            "type": "number", "minimum": 0, "maximum": 1,
                            "description": "Share of the requests. Default 0."
                        },
                        "at": {
                            "type": "array", "items": { "type": "integer", "minimum": 0 },
                            "description": "Requests by their number since the server's start, from 0."
                        }
                    },
                    "additionalProperties": false
                }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_a_key() {
        for kind in FaultKind::ALL {
            let faults: Faults = serde_json::from_value(serde_json::json!({ kind.name(): 0.25 })).unwrap();
            assert_eq!(faults.rules(), [FaultRule::rate(*kind, 0.25)]);
        }
    }

    #[test]
    fn a_fault_is_written_as_a_share_or_as_a_table() {
        let text = serde_json::json!({ "stall": { "rate": 0.5, "at": [1, 4] }, "reset": { "at": [2] }, "drip": 1 });
        let faults: Faults = serde_json::from_value(text).unwrap();
        assert_eq!(faults.given().len(), 3);
        assert_eq!(faults.stall, Some(FaultSpec { rate: 0.5, at: vec![1, 4] }));
        assert_eq!(faults.reset, Some(FaultSpec { rate: 0.0, at: vec![2] }));
        assert_eq!(faults.drip, Some(FaultSpec { rate: 1.0, at: Vec::new() }));
    }
}
