//! The options of `context402 convert` that ask for a part of the page, as the members of a request do.

use crate::domain::excerpt::{
    CHARACTERS_MAX, CHARACTERS_MIN, Excerpt, Omitted, SELECTOR_CHARACTERS_MAX, Selectors,
    TOKENS_MAX, TOKENS_MIN,
};
use crate::domain::shapes::QUESTION_CHARACTERS_MAX;
use crate::markdown::Narrowing;

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Part of the page")]
pub(in crate::cli) struct Part {
    /// Keep the passages that best answer this query; at most 2,000 tokens unless a limit is given
    #[arg(long, value_name = "Q", value_parser = query)]
    query: Option<String>,
    /// At most this many tokens of markdown, by a cautious estimate
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(TOKENS_MIN..=TOKENS_MAX))]
    max_tokens: Option<u64>,
    /// At most this many characters of markdown
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(CHARACTERS_MIN..=CHARACTERS_MAX))]
    max_characters: Option<u64>,
    /// Read only the elements of the page that match
    #[arg(long, value_name = "CSS", value_parser = selector)]
    selector: Option<String>,
    /// Leave out the elements of the page that match
    #[arg(long, value_name = "CSS", value_parser = selector)]
    exclude_selector: Option<String>,
    /// Keep the text of links without their addresses
    #[arg(long)]
    no_links: bool,
    /// Leave out images
    #[arg(long)]
    no_images: bool,
    /// Leave out tables
    #[arg(long)]
    no_tables: bool,
}

impl Part {
    pub(in crate::cli) fn selectors(&self) -> Selectors {
        Selectors {
            include: self.selector.clone(),
            exclude: self.exclude_selector.clone(),
        }
    }

    /// For the converter.
    pub(in crate::cli) fn narrowing(&self) -> Result<Option<Narrowing>, String> {
        let Selectors { include, exclude } = self.selectors();
        match (&include, &exclude) {
            (None, None) => Ok(None),
            _ => Narrowing::new(include.as_deref(), exclude.as_deref()).map(Some),
        }
    }

    /// What is asked for; `query` stands in for the option's.
    pub(in crate::cli) fn excerpt(&self, query: Option<&str>) -> Excerpt {
        let query = query.or(self.query.as_deref()).map(str::trim);
        Excerpt {
            query: query.filter(|query| !query.is_empty()).map(str::to_owned),
            max_tokens: self.max_tokens,
            max_characters: self.max_characters,
            omitted: Omitted {
                links: self.no_links,
                images: self.no_images,
                tables: self.no_tables,
            },
            selectors: self.selectors(),
        }
    }
}

fn query(text: &str) -> Result<String, String> {
    match text.chars().count() <= QUESTION_CHARACTERS_MAX {
        true => Ok(text.to_owned()),
        false => Err(format!("at most {QUESTION_CHARACTERS_MAX} characters")),
    }
}

fn selector(text: &str) -> Result<String, String> {
    if text.chars().count() > SELECTOR_CHARACTERS_MAX {
        return Err(format!("at most {SELECTOR_CHARACTERS_MAX} characters"));
    }
    Narrowing::parse_selector(text).map(|_| text.to_owned())
}
