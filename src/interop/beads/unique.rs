//! JSON in which no object has a field twice, at any depth.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A JSON object whose field names are unique: `serde_json` alone would keep the last silently.
pub(super) struct Object(pub(super) BTreeMap<String, Value>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Unique;
        impl<'de> Visitor<'de> for Unique {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Object, A::Error> {
                unique(entries).map(Object)
            }
        }
        deserializer.deserialize_map(Unique)
    }
}

fn unique<'de, A: MapAccess<'de>>(mut entries: A) -> Result<BTreeMap<String, Value>, A::Error> {
    let mut object = BTreeMap::new();
    while let Some((name, Inner(value))) = entries.next_entry::<String, Inner>()? {
        if object.contains_key(&name) {
            return Err(serde::de::Error::custom(format!("field {name:?} is there twice")));
        }
        object.insert(name, value);
    }
    Ok(object)
}

/// A value in which that holds for every object.
struct Inner(Value);

impl<'de> Deserialize<'de> for Inner {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Inner;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_unit<E>(self) -> Result<Inner, E> {
                Ok(Inner(Value::Null))
            }

            fn visit_bool<E>(self, value: bool) -> Result<Inner, E> {
                Ok(Inner(value.into()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Inner, E> {
                Ok(Inner(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Inner, E> {
                Ok(Inner(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Inner, E> {
                Ok(Inner(value.into()))
            }

            fn visit_str<E>(self, value: &str) -> Result<Inner, E> {
                Ok(Inner(value.into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Inner, A::Error> {
                let mut list = Vec::new();
                while let Some(Inner(value)) = entries.next_element()? {
                    list.push(value);
                }
                Ok(Inner(list.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Inner, A::Error> {
                Ok(Inner(Value::Object(unique(entries)?.into_iter().collect())))
            }
        }
        deserializer.deserialize_any(Any)
    }
}
