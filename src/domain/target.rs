//! Which addresses a buyer may name. (Placeholder: being written.)
use std::net::IpAddr;
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TargetUrl(url::Url);
impl TargetUrl {
    pub fn url(&self) -> &url::Url {
        &self.0
    }
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressVerdict {
    Public,
    Refused(&'static str),
}
pub fn classify(_: IpAddr) -> AddressVerdict {
    AddressVerdict::Refused("placeholder")
}
