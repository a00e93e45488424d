//! Commands for stored data: backups, exports, ledger, reports and personal data.

pub(crate) mod backup;
pub(crate) mod export;
pub(crate) mod ledger;
pub(crate) mod person;
pub(crate) mod reports;
pub(crate) mod restore;
