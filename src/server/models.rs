//! Which models a server serves, and which one a plan means.

use serde_json::Value;

use super::Probe;

/// What `/v1/models` told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Served {
    /// These ids.
    Models(Vec<String>),
    /// Nothing usable; why.
    Unknown(String),
}

impl Served {
    /// The ids, when they are known.
    pub fn models(&self) -> Option<&[String]> {
        match self {
            Self::Models(ids) => Some(ids),
            Self::Unknown(_) => None,
        }
    }
}

impl Probe {
    /// Asks which models are served.
    pub async fn served_models(&self) -> Served {
        match self.get("/v1/models").await {
            Err(why) => Served::Unknown(why),
            Ok(answer) if !answer.is_success() => Served::Unknown(format!("it answered {}", answer.status)),
            Ok(answer) => model_ids(answer.json().as_ref())
                .map_or_else(|| Served::Unknown("its answer is not a list of models".into()), Served::Models),
        }
    }

    /// Asks for `/version`, which not every server has.
    pub async fn version(&self) -> Option<Value> {
        self.get("/version").await.ok().filter(super::Answer::is_success)?.json()
    }
}

fn model_ids(answer: Option<&Value>) -> Option<Vec<String>> {
    let ids = answer?.get("data")?.as_array()?.iter().map(|model| Some(model.get("id")?.as_str()?.to_owned()));
    ids.collect::<Option<Vec<_>>>().filter(|ids| !ids.is_empty())
}

/// The model id to send and a remark when it could not be checked.
///
/// A server may accept any id (chat does), so a wrong one would be measured under the name of
/// another; it is therefore an error whatever the endpoint. `auto` takes the only model.
pub fn choose_model(wanted: &str, served: &Served, url: &str) -> Result<(String, Option<String>), String> {
    let auto = wanted == "auto";
    match served {
        Served::Unknown(why) if auto => {
            Err(format!("`model.id` is `auto`, but `{url}/v1/models` cannot tell the model: {why}"))
        }
        Served::Unknown(why) => {
            Ok((wanted.to_owned(), Some(format!("`{url}/v1/models` cannot tell the model: {why}"))))
        }
        Served::Models(ids) => match ids.as_slice() {
            [only] if auto => Ok((only.clone(), None)),
            many if auto => Err(format!(
                "the server at `{url}` serves {} models ({}); write the one to measure as `model.id`",
                many.len(),
                listed(many)
            )),
            some if some.iter().any(|id| id == wanted) => Ok((wanted.to_owned(), None)),
            some => Err(format!("the server at `{url}` does not serve `{wanted}`; it serves {}", listed(some))),
        },
    }
}

fn listed(ids: &[String]) -> String {
    ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(ids: &[&str]) -> Served {
        Served::Models(ids.iter().map(|id| (*id).to_owned()).collect())
    }

    #[test]
    fn a_served_model_is_taken_as_it_is() {
        assert_eq!(choose_model("a", &served(&["a", "b"]), "u"), Ok(("a".into(), None)));
    }

    #[test]
    fn another_model_is_an_error_that_lists_what_is_served() {
        let error = choose_model("default", &served(&["Qwen/Qwen-Image"]), "http://h:1").unwrap_err();
        assert_eq!(error, "the server at `http://h:1` does not serve `default`; it serves `Qwen/Qwen-Image`");
    }

    #[test]
    fn auto_takes_the_only_model_and_refuses_to_guess_between_two() {
        assert_eq!(choose_model("auto", &served(&["a"]), "u"), Ok(("a".into(), None)));
        assert!(choose_model("auto", &served(&["a", "b"]), "u").unwrap_err().contains("serves 2 models"));
        assert!(choose_model("auto", &Served::Unknown("it answered 404".into()), "u").is_err());
    }

    #[test]
    fn an_unreadable_list_is_a_remark_only() {
        let (model, remark) = choose_model("a", &Served::Unknown("it answered 404".into()), "u").unwrap();
        assert_eq!(model, "a");
        assert!(remark.unwrap().contains("404"));
    }

    #[test]
    fn ids_are_read_from_the_openai_list_only() {
        let list = serde_json::json!({ "object": "list", "data": [{ "id": "a" }, { "id": "b" }] });
        assert_eq!(model_ids(Some(&list)), Some(vec!["a".into(), "b".into()]));
        for odd in [serde_json::json!({ "data": [] }), serde_json::json!({ "data": [{}] }), serde_json::json!([])] {
            assert_eq!(model_ids(Some(&odd)), None);
        }
    }
}
