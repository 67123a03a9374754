//! A JSON reply read for its pictures: they are taken out of the text stream, the rest becomes the
//! skeleton.

use serde_json::Value;

use super::picture::{Form, Picture, PictureFault, PictureReader, Wants};
use super::save::PartFile;
use crate::endpoint::json::{Event, Malformed, Scanner, Skeleton, Step};
use crate::endpoint::types::SaveMedia;

/// Pictures of one reply; endpoints give at most ten.
const MAX_PICTURES: usize = 1024;

/// Where an endpoint puts its pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// `data[i].b64_json`
    Data,
    /// `choices[i].message.content[j].image_url.url`
    Message,
}

impl Place {
    /// The name of the picture whose text begins at the path, if one does.
    fn name(self, skeleton: &Skeleton) -> Option<String> {
        use Step::{Index, Key};
        let mut steps = skeleton.path();
        match self {
            Self::Data if steps.len() == 3 => match [steps.next()?, steps.next()?, steps.next()?] {
                [Key("data"), Index(item), Key("b64_json")] => Some(format!("data[{item}].b64_json")),
                _ => None,
            },
            Self::Message if steps.len() == 7 => {
                let head = [steps.next()?, steps.next()?, steps.next()?, steps.next()?];
                match (head, [steps.next()?, steps.next()?, steps.next()?]) {
                    (
                        [Key("choices"), Index(choice), Key("message"), Key("content")],
                        [Index(item), Key("image_url"), Key("url")],
                    ) => Some(format!("choices[{choice}].message.content[{item}].image_url.url")),
                    _ => None,
                }
            }
            Self::Data | Self::Message => None,
        }
    }

    fn form(self) -> Form {
        match self {
            Self::Data => Form::Base64,
            Self::Message => Form::DataUrl,
        }
    }
}

/// A picture's place in the reply and what became of it.
pub(crate) type Found = (String, Result<Picture, PictureFault>);

/// Reads one reply.
pub(crate) struct GalleryReader {
    scanner: Scanner,
    content: Content,
    malformed: Option<Malformed>,
}

/// A reply that has been read.
pub(crate) struct Gallery {
    pub(crate) pictures: Vec<Found>,
    /// Everything else; `None` for an empty body.
    pub(crate) skeleton: Option<Value>,
}

struct Content {
    place: Place,
    wants: Wants,
    save: Option<SaveMedia>,
    /// Pictures that came before this document.
    before: usize,
    skeleton: Skeleton,
    open: Option<(String, Box<PictureReader>)>,
    pictures: Vec<Found>,
}

impl GalleryReader {
    pub(crate) fn new(place: Place, wants: Wants, save: Option<SaveMedia>) -> Self {
        let skeleton = Skeleton::new();
        let content = Content { place, wants, save, before: 0, skeleton, open: None, pictures: Vec::new() };
        Self { scanner: Scanner::new(), content, malformed: None }
    }

    /// The document follows others of the same reply that held so many pictures.
    pub(crate) fn numbered(mut self, before: usize) -> Self {
        self.content.before = before;
        self
    }

    pub(crate) fn feed(&mut self, chunk: &[u8]) {
        if self.malformed.is_none() {
            let Self { scanner, content, .. } = self;
            self.malformed = scanner.feed(chunk, &mut |event| content.on(event)).err();
        }
    }

    pub(crate) fn finish(mut self) -> Result<Gallery, Malformed> {
        if let Some(malformed) = self.malformed {
            return Err(malformed);
        }
        if self.scanner.is_started() {
            let content = &mut self.content;
            self.scanner.finish(&mut |event| content.on(event))?;
        }
        Ok(Gallery { pictures: self.content.pictures, skeleton: self.content.skeleton.into_root() })
    }

    /// Bytes of the reply that are held.
    pub(crate) fn retained(&self) -> usize {
        let picture = self.content.open.as_ref().map_or(0, |(name, picture)| name.len() + picture.retained());
        self.content.skeleton.retained() + picture
    }
}

impl Content {
    fn on(&mut self, event: Event<'_>) -> Result<(), Malformed> {
        if let Some((name, mut picture)) = self.open.take() {
            match event {
                Event::EndText => {
                    self.pictures.push((name, picture.finish()));
                    // the skeleton shows that a text was there
                    self.skeleton.put(Value::String(String::new()));
                    return Ok(());
                }
                Event::Part(part) => picture.feed(part.as_bytes()),
                _ => {}
            }
            self.open = Some((name, picture));
            return Ok(());
        }
        if event == Event::BeginText
            && let Some(name) = self.place.name(&self.skeleton)
        {
            return self.begin(name);
        }
        self.skeleton.on(event);
        Ok(())
    }

    fn begin(&mut self, name: String) -> Result<(), Malformed> {
        if self.before + self.pictures.len() >= MAX_PICTURES {
            return Err(Malformed::TooMany(MAX_PICTURES));
        }
        if self.pictures.iter().any(|(seen, _)| *seen == name) {
            return Err(Malformed::Twice(name));
        }
        let number = self.before + self.pictures.len();
        let file =
            self.save.as_ref().map(|save| PartFile::create(save.folder.clone(), format!("{}_{number:02}", save.stem)));
        self.open = Some((name, Box::new(PictureReader::new(self.place.form(), self.wants, file))));
        Ok(())
    }
}
