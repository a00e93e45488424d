//! Former payment terms, and receipts of finished sales.

use serde_json::{Map, Value};

use crate::app::{App, Shared};
use crate::domain::time::UnixSeconds;
use crate::state::in_flight::delivered::Delivered;
use crate::state::offers::Terms;
use crate::store::{Store, StoreError};
use crate::x402::offer_receipt::{self, Receipt};

/// The signed receipt of a finished sale, for PAYMENT-RESPONSE; deterministic, so that every delivery has the same one.
pub fn receipt(app: &App, delivered: &Delivered) -> Option<Map<String, Value>> {
    let signer = app.signer.as_ref()?;
    let receipt = Receipt::new(
        app.config.payment.network,
        app.offers.resource_url(delivered.item.product()),
        delivered.payer.clone(),
        delivered.transaction.clone(),
        delivered.content_sha256.clone(),
        delivered.settled_at,
    );
    Some(offer_receipt::receipt(signer, &receipt))
}

/// The terms offered before this start, from the data file.
pub async fn former_terms(store: &Store) -> Result<Vec<(Terms, UnixSeconds)>, StoreError> {
    let rows = store.read(|snapshot| snapshot.terms()).await?;
    // Terms that this version cannot read cannot be honoured.
    Ok(rows
        .into_iter()
        .filter_map(|(text, last)| Some((serde_json::from_str(&text).ok()?, last)))
        .collect())
}

/// Records the current terms.
pub async fn note_terms(app: &Shared) -> Result<(), StoreError> {
    let now = app.now();
    let terms = serde_json::to_string(app.offers.terms())
        .map_err(|error| StoreError::File(error.to_string()))?;
    app.store
        .write(move |tables| tables.note_terms(&terms, now))
        .await
}
