//! Finishes an order once all sources have a result: report, PDF and e-mail, in one transaction.

use sha2::{Digest, Sha256};

use super::sources::{Source, TEXTS_BYTES_MAX};
use super::{AttemptOutcome, Job, PAUSE_SECONDS, held};
use crate::domain::bundle::Bundle;
use crate::domain::code::Code;
use crate::domain::ids::{LeadId, OrderId};
use crate::domain::lead::{By, LeadEvent};
use crate::domain::limit_reached::LimitReached;
use crate::domain::order::{Order, OrderEvent};
use crate::domain::refusal::Refusal;
use crate::domain::time::UnixSeconds;
use crate::evidence::bundle::{
    BundleReport, BundleRequest, BundleSource, SourceReport, bundle_report,
};
use crate::flows::content::MEMORY_WAIT_MAX;
use crate::flows::content::pdf;
use crate::flows::orders::order_emails::OrderEmails;
use crate::pdf::Rendered;
use crate::store::{OrderReport, StoreError, Tables};

/// Memory for the sources' texts and one comparison.
const COMPARING_BYTES: usize = TEXTS_BYTES_MAX + TEXTS_BYTES_MAX / 4;

impl Job {
    /// Makes report and PDF and finishes the order.
    pub(super) async fn finish(&self) -> Result<AttemptOutcome, StoreError> {
        let mut permit = self.app.outside.memory.nothing();
        let permitted = permit.resized(COMPARING_BYTES, MEMORY_WAIT_MAX).await;
        if let Err(LimitReached) = permitted {
            return self.pause(self.app.now().plus(PAUSE_SECONDS)).await;
        }
        let sources = self.sources().await?;
        let read = sources
            .iter()
            .filter(|source| source.outcome.is_ok())
            .count();
        if read == 0 {
            return self
                .give_up("none of its sources could be fetched".to_owned())
                .await;
        }
        self.app.crash_point("sources_done");
        let (order, id, now) = (self.order.clone(), self.id, self.app.now());
        let made = self.app.outside.checks.run(move || {
            let report = report_of(id, &order, &sources, now);
            drop((sources, permit));
            report
        });
        let Ok(report) = made.await else {
            return self.pause(now.plus(PAUSE_SECONDS)).await;
        };
        let rendered = match pdf::of_bundle(&self.app, report.clone()).await {
            Ok(rendered) => Some(rendered),
            Err(Refusal {
                code: Code::Overloaded,
                ..
            }) => {
                return self.pause(now.plus(PAUSE_SECONDS)).await;
            }
            // Web page and JSON are delivered anyway.
            Err(_) => None,
        };
        self.app.crash_point("order_written");
        let end = self.deliver(&report, rendered, read).await?;
        self.app.crash_point("order_delivered");
        Ok(end)
    }

    async fn deliver(
        &self,
        report: &BundleReport,
        rendered: Option<Rendered>,
        sources_read: usize,
    ) -> Result<AttemptOutcome, StoreError> {
        let (id, attempt, round) = (self.id, self.attempt, self.order.round);
        let (now, emails) = (self.app.now(), OrderEmails::of(&self.app));
        // Strings, numbers, lists and objects with text keys: nothing in it can fail to be written.
        let document = serde_json::to_vec(report).unwrap_or_default();
        let pdf = rendered.map(|rendered| rendered.bytes);
        let record = OrderReport {
            document: Sha256::digest(&document).into(),
            pdf: pdf.as_ref().map(|bytes| Sha256::digest(bytes).into()),
            pdf_bytes: pdf.as_ref().map_or(0, |bytes| bytes.len() as u64),
            sources_read: u32::try_from(sources_read).unwrap_or(u32::MAX),
            created_at: now.0,
        };
        let delivered = self.app.store.write(move |tables| {
            let Some(mut order) = held(tables, id, attempt, round)? else {
                return Ok(AttemptOutcome::Lost);
            };
            order.happen(&OrderEvent::Delivered { attempt }, now.0);
            order.note(now.0, "fulfilled");
            tables.put_order_report(id, &record, &document, pdf.as_deref())?;
            tables.drop_order_sources(id)?;
            fulfil_lead(tables, &order, id, now)?;
            emails.delivered(tables, id, &order, now)?;
            tables.put_order(id, &order)?;
            Ok(AttemptOutcome::Delivered)
        });
        delivered.await
    }
}

fn report_of(id: OrderId, order: &Order, sources: &[Source], now: UnixSeconds) -> BundleReport {
    let order_id = id.to_string();
    let request = BundleRequest {
        order_id: &order_id,
        bundle: order.bundle.map_or("", Bundle::name),
        question: &order.question,
        created_at: now,
    };
    let sources: Vec<BundleSource<'_>> = sources
        .iter()
        .map(|source| BundleSource {
            target_url: &source.target_url,
            outcome: match &source.outcome {
                Ok(document) => Ok(SourceReport {
                    report: &document.report,
                    text: &document.text,
                }),
                Err(unreachable) => Err(unreachable.clone()),
            },
            fetched_at: match &source.outcome {
                // A cached page was read earlier.
                Ok(document) => UnixSeconds(document.report.source_profile.retrieved_at),
                Err(_) => source.fetched_at,
            },
        })
        .collect();
    bundle_report(&request, &sources)
}

fn fulfil_lead(
    tables: &mut Tables<'_>,
    order: &Order,
    id: OrderId,
    now: UnixSeconds,
) -> Result<(), StoreError> {
    let Some(lead_id) = order.lead.map(LeadId) else {
        return Ok(());
    };
    let Some(mut lead) = tables.lead(lead_id)? else {
        return Ok(());
    };
    // A lead marked as lost stays lost; the order is delivered anyway.
    if lead
        .apply(LeadEvent::Fulfil, By::Service, &id.to_string(), now)
        .is_ok()
    {
        tables.put_lead(lead_id, &lead)?;
    }
    Ok(())
}
