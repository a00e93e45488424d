//! A table of all state and memory that unpaid requests can make the service hold: the bound, what happens there, where it
//! is enforced, and the tests. The service does not use it; the tests below compare it with the sources, and
//! `data/ops/bounds.md` with it. A new table of the data file, queue or cache needs a row here, or a reason in
//! [`NOT_BY_STRANGERS`].

/// One kind of state.
#[derive(Clone, Copy, Debug)]
pub struct BoundedState {
    /// What is held.
    pub what: &'static str,
    /// Where it is held.
    pub location: Location,
    /// Every bound that limits it.
    pub bounds: &'static [Bound],
    /// What happens at the bound.
    pub at_bound: &'static str,
    /// Where the bound is enforced, as `file::symbol`.
    pub enforced: &'static [&'static str],
    /// The tests that show it, as `file::function`.
    pub tests: &'static [&'static str],
}

/// Where something is held.
#[derive(Clone, Copy, Debug)]
pub enum Location {
    /// In these tables of the data file.
    Tables(&'static [&'static str]),
    Memory,
    /// In sockets and their buffers.
    Connections,
    /// As threads or calls in progress to an upstream.
    Calls,
}

/// One bound.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// A setting of the configuration.
    Setting(&'static str),
    /// A constant, or a field with a fixed default, of a source file: `file::NAME`.
    Constant(&'static str),
    /// Follows from other rows; says why.
    Derived(&'static str),
}

use Bound::{Constant, Derived, Setting};
use Location::{Calls, Connections, Memory, Tables};

/// Tables of the data file that strangers cannot make grow, each with the reason.
pub const NOT_BY_STRANGERS: &[(&str, &str)] = &[
    ("meta-1", "a fixed set of facts about the file"),
    (
        "pages-1",
        "a page enters the cache when its sale settles; bounded by limits.page_cache_mib",
    ),
    (
        "answered-payments-1",
        "one row for each payment that was settled",
    ),
    ("payments-1", "of a file of schema 1; empty since"),
    ("blob-holds-1", "of a file of schema 1; empty since"),
    ("report-bytes-1", "one row for each settled report"),
    (
        "overrides-1",
        "written by the operator; one row for each setting that changes without a restart",
    ),
    ("changes-1", "written by the operator; the latest 1,000"),
    (
        "report-screenshots-1",
        "one row for each paid report with a screenshot; unsettled ones are bounded by limits.unsettled_mib",
    ),
    (
        "shared-reports-1",
        "one row for each report that its buyer shares",
    ),
    (
        "listed-reports-1",
        "one row for each report that its buyer lists",
    ),
    (
        "approved-reports-1",
        "one row for each listed report that the operator has approved",
    ),
    (
        "mail-only-orders-1",
        "with its order: a row for each that was found by an e-mail address alone",
    ),
    (
        "unverified-settlements-1",
        "one row for each settlement that the facilitator reports",
    ),
    (
        "settlement-discrepancies-1",
        "one row for each reported settlement that the chain contradicts",
    ),
    (
        "purchases-1",
        "one row for each settled payment, for 30 days",
    ),
    ("overpayments-1", "one row for each transfer that was paid"),
    (
        "ended-sessions-1",
        "written by the one who holds a session of the operator's console; each row for a day after its session",
    ),
    ("order-sources-1", "written for paid orders alone"),
    ("order-reports-1", "written for paid orders alone"),
    ("ledger-1", "one row a day, written when a sale settles"),
    ("reckonings-1", "one row a day"),
    ("terms-1", "the service's own offers of the last 12 days"),
];

/// The table.
#[rustfmt::skip]
pub const BOUNDS: &[BoundedState] = &[
    // Records of the data file.
    BoundedState {
        what: "Quotes for pages and reports, and their tombstones",
        location: Tables(&["quotes-1"]),
        bounds: &[Setting("limits.unpaid_records_mib"), Setting("limits.free_disk_mib_min")],
        at_bound: "The oldest leave. From twice the floor of free disk on the bound falls, to nothing at the floor: then a quote is answered and not kept, and POST /v1/quotes gets 503.",
        enforced: &["src/store/quotes.rs::put_quote", "src/store/disk_space.rs::allowed", "src/flows/quotes/quote.rs::quote"],
        tests: &["src/store/tests/unpaid.rs::quotes_beyond_their_bound_push_out_the_oldest",
            "src/store/tests/unpaid.rs::a_tombstone_holds_an_identifier_and_an_end",
            "src/store/tests/unpaid.rs::without_room_for_sales_nothing_unpaid_is_kept",
            "tests/it/limits.rs::quotes_are_answered_and_not_kept_without_room"],
    },
    BoundedState {
        what: "Quotes for bundles that nobody has paid for, and their tombstones",
        location: Tables(&["bundle-quotes-1"]),
        bounds: &[Setting("limits.unpaid_records_mib"), Setting("limits.free_disk_mib_min")],
        at_bound: "The oldest unpaid leave. The bound falls with the free disk; without room a quote for a bundle gets 503. A payment for one that has left is set aside as needs_review.",
        enforced: &["src/store/quotes.rs::put_quote_row", "src/flows/quotes/bundles.rs::quote"],
        tests: &["src/store/tests/unpaid.rs::quotes_beyond_their_bound_push_out_the_oldest",
            "src/store/tests/unpaid.rs::a_quote_that_was_paid_for_does_not_make_room",
            "tests/it/limits.rs::a_flood_of_bundle_quotes_stays_within_its_bound"],
    },
    BoundedState {
        what: "Requests and messages with a contact",
        location: Tables(&["leads-1", "leads-by-contact-1", "leads-by-form-1"]),
        bounds: &[Setting("limits.unpaid_records_mib"), Setting("bundles.leads_max"), Setting("limits.leads_per_minute")],
        at_bound: "503, nothing is kept: what was acknowledged is never lost. The operator deletes some.",
        enforced: &["src/store/unpaid.rs::admits_lead", "src/flows/orders/leads.rs::receive"],
        tests: &["src/store/tests/unpaid.rs::leads_beyond_their_bound_leave_or_are_refused", "tests/it/leads.rs::leads_are_bounded"],
    },
    BoundedState {
        what: "Requests without a contact, of those who went to a payment link",
        location: Tables(&["leads-1", "leads-by-form-1", "anonymous-leads-1"]),
        bounds: &[Setting("limits.unpaid_records_mib"), Setting("bundles.leads_max"), Setting("limits.leads_per_minute")],
        at_bound: "The oldest leave. A payment for one that has left is set aside as needs_review.",
        enforced: &["src/store/unpaid.rs::admits_lead", "src/store/leads.rs::evict_anonymous_lead"],
        tests: &["src/store/tests/unpaid.rs::leads_beyond_their_bound_leave_or_are_refused"],
    },
    BoundedState {
        what: "Notices of new requests that are to be sent to the operator",
        location: Tables(&["notices-1"]),
        bounds: &[Derived("one for each request; it goes with the request, and after three tries")],
        at_bound: "The notice is given up; the request stays.",
        enforced: &["src/flows/orders/lead_webhook.rs::begin", "src/store/leads.rs::delete_lead"],
        tests: &["tests/it/leads.rs::a_notice_is_tried_three_times", "tests/it/leads.rs::what_is_deleted_is_not_announced"],
    },
    BoundedState {
        what: "Events of the payment provider, signed by it",
        location: Tables(&["provider-events-1"]),
        bounds: &[Setting("limits.unpaid_records_mib"), Constant("src/store/orders.rs::EVENT_SECONDS"), Constant("src/flows/orders.rs::RAW_BYTES_MAX")],
        at_bound: "The oldest leave; an event that is repeated after that changes no order.",
        enforced: &["src/store/orders.rs::put_provider_event"],
        tests: &["src/store/tests/unpaid.rs::what_the_provider_sends_is_bounded_and_paid_orders_stay"],
    },
    BoundedState {
        what: "Orders whose payment is awaited or has failed",
        location: Tables(&["orders-1", "orders-by-session-1", "orders-by-email-1"]),
        bounds: &[Setting("limits.unpaid_records_mib")],
        at_bound: "The oldest are deleted; if the payment arrives later, the provider's event creates the order again.",
        enforced: &["src/store/orders.rs::put_order", "src/store/orders.rs::evict_unpaid_orders"],
        tests: &["src/store/tests/unpaid.rs::what_the_provider_sends_is_bounded_and_paid_orders_stay"],
    },
    BoundedState {
        what: "Mails that lead back to an order, asked for by the one who knows its e-mail address and a source",
        location: Tables(&["outbox-1"]),
        bounds: &[Constant("src/flows/orders/order_emails.rs::RECOVERY_PAUSE_SECONDS"), Constant("src/store/outbox.rs::RECOVERY_SECONDS"), Setting("limits.recoveries_per_minute")],
        at_bound: "One mail for each paid order and pause, kept for a day; nothing is written to anyone without an order.",
        enforced: &["src/flows/orders/order_emails.rs::recovered", "src/store/outbox.rs::due"],
        tests: &["src/store/tests/orders.rs::a_mail_that_leads_back_to_an_order_is_kept_for_a_day",
            "tests/it/orders.rs::who_asks_for_a_lost_delivery_learns_nothing_and_the_buyer_gets_a_mail"],
    },
    BoundedState {
        what: "Mails about payments that have failed, and about orders that failed or were refunded",
        location: Tables(&["outbox-1"]),
        bounds: &[Derived("one of each kind for an order, and one for each further try of the operator's; 30 days from when it was sent")],
        at_bound: "None is written twice.",
        enforced: &["src/flows/orders/order_emails.rs::payment_failed", "src/flows/orders/order_emails.rs::failed",
            "src/flows/orders/order_emails.rs::refunded", "src/store/outbox.rs::enqueue_mail"],
        tests: &["tests/it/webhook.rs::the_same_event_fifty_times_at_once_is_one_order_and_one_mail"],
    },
    BoundedState {
        what: "Payments that are held by a retry credit, and what is left of those that were let go, have failed or got the goods of an earlier one; credits and identifiers",
        location: Tables(&["open-payments-1", "ended-payments-1", "payment-places-1", "credits-1", "identifiers-1"]),
        bounds: &[Constant("src/state/in_flight/unfinished.rs::HELD_OF_PAYER_MAX"), Constant("src/state/in_flight/unfinished.rs::HELD_MAX"), Constant("src/flows/sale/payments.rs::RELEASED_SECONDS"), Constant("src/flows/sale/recall.rs::ANSWERED_MAX"), Setting("limits.sales_per_minute")],
        at_bound: "A payer's further payments are refused with 429 and not used; beyond the sum of all, an outage gives no credit, and the payment is not used. A payment that was let go or has failed keeps its key and state, and is forgotten a week after its authorization has ended. So many payments under one identifier get an answer that was received; further ones are refused and not used.",
        enforced: &["src/state/in_flight/unfinished.rs::HELD_OF_PAYER_MAX", "src/flows/sale/payments.rs::forgotten_at"],
        tests: &["tests/it/owed.rs::a_payer_holds_a_few_payments_and_leaves_little_behind", "tests/it/owed.rs::a_payment_that_failed_leaves_little_behind",
            "tests/it/replay.rs::so_many_signatures_under_an_identifier_are_given_the_answer_and_leave_no_text", "tests/it/limits.rs::one_wallet_with_many_nonces_gets_little_work_for_nothing",
            "tests/it/rates.rs::a_new_payment_beyond_the_limit_is_not_used"],
    },
    BoundedState {
        what: "Settlements whose outcome is unknown, and those that were given up",
        location: Tables(&["abandoned-settlements-1"]),
        bounds: &[Constant("src/state/unknown.rs::UNKNOWN_OF_PAYER_MAX"), Constant("src/flows/sale/unknown.rs::ABANDON_SECONDS"), Constant("src/flows/sale/unknown.rs::LAST_PERIOD_SECONDS"), Setting("limits.unsettled_mib")],
        at_bound: "Further payments of the payer are not taken. After a day the background gives up, and the answer is dropped; the operator ends the record.",
        enforced: &["src/state/unknown.rs::UNKNOWN_OF_PAYER_MAX", "src/flows/sale/unknown.rs::drop_answer"],
        tests: &["tests/it/settlements.rs::a_payer_with_many_unknown_settlements_waits", "tests/it/settlements.rs::an_unknown_settlement_is_given_up_after_a_day",
            "tests/it/settlements.rs::the_answer_of_a_settlement_that_was_given_up_is_dropped_in_the_end"],
    },
    BoundedState {
        what: "Goods of sales that are not settled: pages, answers, reports with their sources",
        location: Tables(&["sale-goods-1", "blob-holds-2", "blobs-1", "blob-keep-1", "reports-1", "reports-of-payments-1"]),
        bounds: &[Setting("limits.unsettled_mib")],
        at_bound: "503, not charged. The goods of a sale that fails leave at once.",
        enforced: &["src/store/goods.rs::hold_goods", "src/store/goods.rs::drop_goods"],
        tests: &["src/store/tests/goods.rs::the_goods_of_unsettled_sales_have_a_bound",
            "src/store/tests/goods.rs::a_sale_that_fails_leaves_nothing_behind",
            "tests/it/limits.rs::sales_that_never_settle_leave_nothing_behind",
            "tests/it/limits.rs::unsettled_answers_beyond_their_bound_are_refused_uncharged"],
    },
    BoundedState {
        what: "What is due when, for the records above",
        location: Tables(&["due-1"]),
        bounds: &[Derived("one row for each record and blob")],
        at_bound: "A row goes with what it is of.",
        enforced: &["src/store/blobs.rs::set_keep", "src/store/quotes.rs::sweep_quote"],
        tests: &["src/store/tests/goods.rs::the_bytes_of_a_replaced_page_leave_soon", "src/store/tests/unpaid.rs::quotes_beyond_their_bound_push_out_the_oldest"],
    },
    BoundedState {
        what: "The data file on its disk",
        location: Tables(&[]),
        bounds: &[Setting("limits.free_disk_mib_min"), Constant("src/app.rs::WRITE_ROOM_BYTES")],
        at_bound: "From twice the floor on unpaid records and cached pages leave; at the floor sales get 503 before a payment is looked at; below 4 MiB nothing is written.",
        enforced: &["src/store/disk_space.rs::allowed", "src/store/unpaid.rs::trim", "src/state/health.rs::check_can_sell"],
        tests: &["src/store/disk_space.rs::the_share_falls_from_all_at_twice_the_floor_to_nothing_at_the_floor",
            "src/store/tests/unpaid.rs::without_room_for_sales_nothing_unpaid_is_kept",
            "tests/it/limits.rs::a_full_disk_stops_sales_and_nothing_else", "src/store/tests/disk_space.rs::without_room_nothing_is_written_and_nothing_fails"],
    },

    // Connections and what is on them.
    BoundedState {
        what: "Connections",
        location: Connections,
        bounds: &[Setting("limits.connections_max"), Setting("limits.connections_of_client_max")],
        at_bound: "A client beyond its share gets 429 and is closed. Beyond all places the connection that has waited longest for a request is closed; where all have one in progress, new ones wait in the backlog.",
        enforced: &["src/http/server.rs::place", "src/http/connection_limit.rs::join", "src/http/idle.rs::Idle"],
        tests: &["tests/it/limits.rs::a_connection_beyond_the_cap_waits_for_a_place",
            "src/http/idle.rs::the_connection_that_has_waited_longest_is_closed",
            "tests/it/hostile/floods.rs::a_client_with_too_many_connections_is_told_and_others_are_served",
            "src/http/connection_limit.rs::a_client_s_connections_are_counted_until_they_end"],
    },
    BoundedState {
        what: "TLS handshakes in progress",
        location: Connections,
        bounds: &[Constant("src/http/tls.rs::HANDSHAKE_BYTES_MAX"), Constant("src/http/tls.rs::HANDSHAKE_TIME_MAX"), Setting("limits.connections_of_client_max")],
        at_bound: "The connection is closed. It counts among its client's from the accept, and is the first to go where there is no place.",
        enforced: &["src/http/tls.rs::HANDSHAKE_BYTES_MAX", "src/http/tls.rs::HANDSHAKE_TIME_MAX"],
        tests: &["tests/it/tls.rs::slow_handshakes_hold_nothing_for_long", "tests/it/tls.rs::a_handshake_has_a_length"],
    },
    BoundedState {
        what: "Heads of requests, and idle connections",
        location: Connections,
        bounds: &[Constant("src/http/server.rs::HEAD_BYTES_HARD_MAX"), Constant("src/appliance.rs::HEADER_BYTES_MAX"), Setting("limits.header_seconds_max")],
        at_bound: "431 or 414; after the time the connection is closed.",
        enforced: &["src/http/server.rs::HEAD_BYTES_HARD_MAX", "src/appliance.rs::HEADER_BYTES_MAX"],
        tests: &["tests/it/limits.rs::headers_that_never_end_are_cut", "tests/it/limits.rs::an_idle_connection_is_closed",
            "tests/it/http.rs::headers_over_16_kib_are_too_large", "tests/it/hostile/floods.rs::a_flood_of_waiting_connections_keeps_nobody_out"],
    },
    BoundedState {
        what: "Bodies of requests, from their first byte until their request is answered",
        location: Memory,
        bounds: &[Setting("limits.request_bodies_mib"), Constant("src/http/bodies.rs::LARGE_BODIES_MAX"), Constant("src/http/bodies.rs::UNCOUNTED_BYTES"), Constant("src/appliance.rs::BODY_BYTES_MAX"), Constant("src/routes.rs::EVENT_BYTES_MAX"), Setting("limits.body_seconds_max")],
        at_bound: "The oldest incomplete body is let go, or the new one gets 503; 413 beyond the length, 408 after the time.",
        enforced: &["src/http/bodies.rs::Bodies", "src/http/request_body.rs::collect"],
        tests: &["src/http/bodies.rs::the_oldest_incomplete_body_makes_room_once_it_has_had_its_time", "src/http/bodies.rs::a_few_bodies_may_be_large",
            "tests/it/limits.rs::a_body_that_never_ends_is_cut", "tests/it/hostile/floods.rs::half_requests_take_no_more_memory_than_they_are_long"],
    },
    BoundedState {
        what: "What a refused client still sends",
        location: Connections,
        bounds: &[Constant("src/http/lingering_close.rs::BYTES_MAX"), Constant("src/http/lingering_close.rs::TIME_MAX")],
        at_bound: "The connection is closed.",
        enforced: &["src/http/lingering_close.rs::BYTES_MAX"],
        tests: &["src/http/lingering_close.rs::who_never_ends_is_cut_off"],
    },
    BoundedState {
        what: "Answers that wait to be read",
        location: Memory,
        bounds: &[Constant("src/http/response_budget.rs::UNREAD_BYTES_MAX"), Setting("limits.write_stall_seconds_max")],
        at_bound: "The slowest readers are let go once they had their time.",
        enforced: &["src/http/response_budget.rs::UNREAD_BYTES_MAX", "src/http/write_timeout.rs::poll_write"],
        tests: &["tests/it/hostile/floods.rs::unread_answers_have_a_bounded_part_of_memory", "src/http/response_budget.rs::the_slowest_reader_makes_room_once_it_has_had_its_time",
            "tests/it/limits.rs::whoever_does_not_read_is_dropped"],
    },
    BoundedState {
        what: "Answers that wait for room among those",
        location: Memory,
        bounds: &[Constant("src/http/response_budget.rs::QUEUED_BYTES_MAX"), Constant("src/http/response_budget.rs::WAIT_MAX")],
        at_bound: "503 at once.",
        enforced: &["src/http/response_budget.rs::QUEUED_BYTES_MAX"],
        tests: &["src/http/response_budget.rs::a_full_queue_is_no_place_to_wait_in"],
    },

    // Counters and caches in memory.
    BoundedState {
        what: "Used nonces of payers who sign in to read their purchases",
        location: Memory,
        bounds: &[Constant("src/state/sign_in_nonces.rs::USED_MAX"), Constant("src/x402/sign_in.rs::AGE_SECONDS_MAX"), Setting("limits.quotes_per_minute")],
        at_bound: "503 until the oldest have expired: none is forgotten before. A nonce that nobody has signed takes no place.",
        enforced: &["src/state/sign_in_nonces.rs::spend"],
        tests: &["src/state/sign_in_nonces.rs::used_nonces_have_a_bound_and_none_is_forgotten_before_its_end"],
    },
    BoundedState {
        what: "Rate limits by client",
        location: Memory,
        bounds: &[Setting("limits.clients_max")],
        at_bound: "Further clients share one limit until others have been idle for a minute.",
        enforced: &["src/limits.rs::take"],
        tests: &["src/limits.rs::a_hundred_thousand_clients_take_no_more_memory_than_the_bound"],
    },
    BoundedState {
        what: "Rate limits by the domain that a quote is for",
        location: Memory,
        bounds: &[Setting("limits.clients_max"), Setting("limits.quotes_of_domain_per_minute")],
        at_bound: "429; further domains share one limit.",
        enforced: &["src/limits.rs::admit_domain"],
        tests: &["tests/it/rates.rs::a_domain_is_looked_up_for_nothing_only_so_often"],
    },
    BoundedState {
        what: "Pages that were fetched for free previews today, by client",
        location: Memory,
        bounds: &[Setting("limits.free_fetches_per_day"), Setting("limits.free_fetches_of_client_per_day")],
        at_bound: "429; cached pages are still shown. The count restarts each day.",
        enforced: &["src/state/free_fetches.rs::take"],
        tests: &["tests/it/pages.rs::a_page_is_previewed_for_nothing_only_so_often"],
    },
    BoundedState {
        what: "Answers of DNS",
        location: Memory,
        bounds: &[Constant("src/outside/network.rs::names_max")],
        at_bound: "The oldest are forgotten.",
        enforced: &["src/outside/network.rs::names_max"],
        tests: &["src/outside/network/tests.rs::the_memory_of_names_is_bounded"],
    },
    BoundedState {
        what: "robots.txt of sites",
        location: Memory,
        bounds: &[Constant("src/outside/robots.rs::SITES_MAX"), Constant("src/outside/robots.rs::BYTES_MAX")],
        at_bound: "What is too old is forgotten, then the older half.",
        enforced: &["src/outside/robots.rs::make_room"],
        tests: &["src/outside/robots.rs::what_is_kept_is_bounded_and_the_oldest_leaves_first"],
    },
    BoundedState {
        what: "Sales under way, by payload",
        location: Memory,
        bounds: &[Constant("src/state/in_flight/payloads.rs::PAYLOADS_OF_CLIENT_MAX"), Setting("limits.connections_max")],
        at_bound: "429; the payment is not used.",
        enforced: &["src/state/in_flight/payloads.rs::join"],
        tests: &["src/state/in_flight/payloads.rs::one_client_has_so_many_payments_under_way_and_no_more"],
    },
    BoundedState {
        what: "Requests that wait for the outcome of an identical one",
        location: Memory,
        bounds: &[Constant("src/state/in_flight/payloads.rs::WAITING_MAX")],
        at_bound: "409 at once; 503 with settlement_unknown where the payment may be charged already.",
        enforced: &["src/state/in_flight/payloads.rs::join"],
        tests: &["tests/it/limits.rs::two_hundred_identical_requests_are_one_charge",
            "tests/it/limits.rs::a_payment_under_settlement_is_never_called_uncharged"],
    },
    BoundedState {
        what: "Sales that wait for their payer's turn",
        location: Memory,
        bounds: &[Constant("src/state/in_flight.rs::SALES_OF_PAYER_MAX"), Constant("src/state/in_flight.rs::SALE_WAIT_MAX")],
        at_bound: "503 after the wait; the payment is not used.",
        enforced: &["src/state/in_flight.rs::queue"],
        tests: &["tests/it/limits.rs::one_wallet_with_many_nonces_gets_little_work_for_nothing"],
    },
    BoundedState {
        what: "Payers whose settlements have failed",
        location: Memory,
        bounds: &[Constant("src/state/in_flight/payers.rs::FAILING_PAYERS_MAX"), Constant("src/state/in_flight/payers.rs::FAILURE_SECONDS")],
        at_bound: "The oldest failure is forgotten.",
        enforced: &["src/state/in_flight/payers.rs::note_end"],
        tests: &["src/state/in_flight/payers.rs::failures_are_remembered_for_a_while_and_within_bounds"],
    },
    BoundedState {
        what: "The index of payments that are held, unknown, owed or under way, and of answers that were sent",
        location: Memory,
        bounds: &[Derived("one entry for each such payment on record"), Derived("what is owed has been paid for")],
        at_bound: "An entry goes when its payment settles, fails or is let go.",
        enforced: &["src/state/in_flight/unfinished.rs::note"],
        tests: &["tests/it/money.rs::a_newly_signed_payment_does_not_pay_for_an_unknown_one"],
    },
    BoundedState {
        what: "Who has calls to an upstream under way, by payer and by domain, and who waits for a place",
        location: Memory,
        bounds: &[Constant("src/outside/call.rs::HOLDERS_MAX"), Constant("src/outside/call.rs::WAITERS_OF_HOLDER_MAX"), Constant("src/outside/call.rs::WAITERS_OF_PLACE_MAX")],
        at_bound: "Those without a call are cleared away; one more is refused at once.",
        enforced: &["src/outside/call.rs::place"],
        tests: &["src/outside/call.rs::holders_without_a_call_are_forgotten", "src/outside/call.rs::holders_with_a_call_are_bounded",
            "src/outside/call.rs::a_holder_has_a_bounded_queue", "src/outside/call.rs::a_limit_has_a_bounded_queue"],
    },
    BoundedState {
        what: "Sessions of MCP and of the operator's console",
        location: Memory,
        bounds: &[Derived("none is kept: MCP has no sessions here, and a cookie proves itself")],
        at_bound: "Nothing to fill.",
        enforced: &["src/signing/session.rs::Sessions", "src/api/directory/mcp/mod.rs::post"],
        tests: &["src/signing/session.rs::nobody_else_makes_a_cookie", "tests/it/mcp.rs::only_post_is_answered"],
    },
    BoundedState {
        what: "Warnings and errors for the console, and the log's buffer",
        location: Memory,
        bounds: &[Constant("src/log.rs::TROUBLES_MAX"), Constant("src/log.rs::TROUBLE_BYTES_MAX"), Constant("src/log.rs::BUFFER_BYTES_MAX")],
        at_bound: "The oldest leave.",
        enforced: &["src/log.rs::TROUBLES_MAX"],
        tests: &["src/log.rs::the_latest_warnings_and_errors_are_remembered"],
    },

    BoundedState {
        what: "The last refusals of requests that carried a payment, for the operator",
        location: Memory,
        bounds: &[Constant("src/state/refusals.rs::REFUSALS_MAX"), Constant("src/flows/sale/refusals.rs::REASON_CHARACTERS_MAX")],
        at_bound: "The oldest leave.",
        enforced: &["src/state/refusals.rs::REFUSALS_MAX"],
        tests: &["src/state/refusals.rs::the_last_refusals_are_kept_and_no_more"],
    },

    // Work and calls under way.
    BoundedState {
        what: "Large pages, reports and answers that are being made",
        location: Memory,
        bounds: &[Setting("limits.work_memory_mib"), Constant("src/outside/memory.rs::UNCOUNTED_BYTES"), Constant("src/flows/content.rs::MEMORY_WAIT_MAX")],
        at_bound: "They wait; then 503, not charged.",
        enforced: &["src/outside/memory.rs::resize"],
        tests: &["src/outside/memory.rs::one_at_a_time_may_exceed_and_gives_way_to_the_next", "src/outside/memory.rs::the_queue_is_bounded",
            "tests/it/hostile/floods.rs::a_crowd_of_buyers_of_large_pages_has_a_bounded_part_of_memory"],
    },
    BoundedState {
        what: "The sources of one purchase, and the answer that several pages make",
        location: Memory,
        bounds: &[Constant("src/flows/content/several.rs::AT_ONCE"), Constant("src/flows/content/several.rs::WORK_MAX"), Constant("src/flows/content/several.rs::SOURCES_BYTES_MAX"), Constant("src/flows/content/bundle.rs::TEXTS_BYTES_MAX"), Constant("src/domain/level.rs::PAGES_MAX"), Constant("src/domain/bundle.rs::SOURCES_MAX"), Constant("src/domain/check.rs::SOURCES_MAX"), Setting("limits.work_memory_mib")],
        at_bound: "Four are read at once; what is not read within 90 seconds, or finds no memory, is not read. A page of which a part is sold is let go where only the part fits, and what does not fit is not read. The sale is then refused or 503, not charged.",
        enforced: &["src/flows/content/several.rs::read_all", "src/flows/content/several.rs::fits", "src/flows/sale/deliver.rs::several_pages"],
        tests: &["src/outside/memory.rs::one_at_a_time_may_exceed_and_gives_way_to_the_next",
            "tests/it/several.rs::lists_of_pages_that_make_no_sense_are_refused_before_any_payment_is_looked_at",
            "tests/it/hostile/floods.rs::a_crowd_of_buyers_of_several_large_pages_has_a_bounded_part_of_memory",
            "tests/it/hostile/floods.rs::parts_of_many_large_pages_have_a_bounded_part_of_memory",
            "src/flows/content/several.rs::a_page_is_let_go_where_only_its_part_fits", "src/outside/memory.rs::a_party_exceeds_one_after_the_other"],
    },
    BoundedState {
        what: "Pages that are fetched and converted, and those who wait for a place",
        location: Calls,
        bounds: &[Constant("src/markdown/kinds/zip.rs::PARTS_MAX"), Constant("src/markdown/kinds/zip.rs::PART_BYTES_MAX"), Constant("src/markdown/kinds/zip.rs::UNPACKED_BYTES_MAX"), Constant("src/markdown/kinds/inflate.rs::PACKED_FREE_BYTES"), Constant("src/markdown/kinds/xml.rs::DEPTH_MAX"), Constant("src/markdown/kinds/xlsx.rs::LOOKED_BYTES_MAX"), Constant("src/markdown/kinds/pdf/file.rs::WORK_BYTES_MAX"), Constant("src/outside/web/dial.rs::EMPTY_BYTES_MAX"), Setting("fetch.at_once_max"), Constant("src/app.rs::FETCHES_OF_PAYER_MAX"), Constant("src/app.rs::FETCHES_OF_DOMAIN_MAX"), Constant("src/app.rs::FETCH_WAIT_MAX")],
        at_bound: "503 with a retry credit after the wait; waiters are verified payments, bounded by their payers' turns.",
        enforced: &["src/flows/content/source/fetch.rs::fetch_in_turn", "src/outside/call.rs::run"],
        tests: &["src/markdown/kinds/zip.rs::bombs_are_bounded", "src/markdown/kinds/inflate.rs::blocks_that_hold_nothing_are_given_up", "src/markdown/kinds/xlsx.rs::space_in_shared_texts_counts", "src/markdown/kinds/pdf/tests.rs::look_ups_are_counted_by_what_they_pass_over", "src/outside/web/tests/bodies.rs::a_body_that_decodes_to_nothing_is_stopped", "tests/it/limits.rs::one_buyer_does_not_take_all_places", "tests/it/limits.rs::one_slow_domain_does_not_take_all_places", "src/outside/call.rs::a_holder_takes_its_share_and_no_more"],
    },
    BoundedState {
        what: "The work on one page or document of any kind: reading, selection, checks and writing",
        location: Calls,
        bounds: &[Constant("src/markdown/work.rs::WORK_TIME_MAX"), Constant("src/markdown/mod.rs::PAGE_BYTES_MAX"), Derived("the time that the conversion's own thread computes, so that a busy machine refuses nothing; the slowest of 600 pages made to cost time takes a twentieth of it")],
        at_bound: "The page is refused as too complex (content_too_large) and not charged. A conversion that computes for more than 5 seconds is logged as a warning.",
        enforced: &["src/markdown/work.rs::look", "src/outside/web.rs::fetch", "src/outside/web/conversion.rs::SLOW"],
        tests: &["src/markdown/tests/bounds.rs::no_kind_of_page_takes_longer_than_it_may", "src/markdown/tests/bounds.rs::each_pass_over_a_page_looks_at_the_time", "src/markdown/kinds/inflate.rs::blocks_of_a_few_bytes_are_read", "src/outside/web/conversion.rs::a_slow_conversion_is_logged_and_no_other"],
    },
    BoundedState {
        what: "Pages that are opened in the browser, and those that wait for a place",
        location: Calls,
        bounds: &[Setting("render.at_once_max"), Setting("render.seconds_max"), Constant("src/outside/render/mod.rs::HARD_END"), Constant("src/outside/render/mod.rs::OF_PAYER_MAX"), Constant("src/outside/render/mod.rs::QUEUE_TIME_MAX")],
        at_bound: "The page is read without the browser, and the answer says so; one without text of its own gets 503 with a retry credit.",
        enforced: &["src/outside/render/mod.rs::render", "src/outside/render/worker.rs::listen"],
        tests: &["src/outside/render/tests.rs::a_browser_that_hangs_is_ended_soon_after_the_deadline", "src/outside/render/tests.rs::a_worker_that_is_not_there_or_does_not_answer_is_told", "src/outside/render/tests.rs::one_place_is_for_one_page"],
    },
    BoundedState {
        what: "What a page in the browser loads: requests, hosts, connections and bytes",
        location: Connections,
        bounds: &[Constant("src/outside/render/budget.rs::requests_max"), Constant("src/outside/render/budget.rs::hosts_max"), Constant("src/outside/render/budget.rs::of_host_max"), Constant("src/outside/render/budget.rs::down_bytes_max"), Constant("src/outside/render/budget.rs::up_bytes_max"), Constant("src/outside/render/budget.rs::lookups_max"), Constant("src/outside/render/guard.rs::CONNECTIONS_MAX"), Constant("src/outside/render/worker.rs::RELAYED_MAX"), Constant("src/outside/render/head.rs::HEAD_BYTES_MAX")],
        at_bound: "The request is refused or cut; the page is read as it is then.",
        enforced: &["src/outside/render/budget.rs::request", "src/outside/render/budget.rs::count_received", "src/outside/render/guard.rs::pass"],
        tests: &["src/outside/render/budget.rs::a_render_has_so_many_requests_hosts_and_bytes", "src/outside/render/tests.rs::a_render_takes_no_more_than_its_bytes_and_requests"],
    },
    BoundedState {
        what: "A rendered page as HTML, on its way from the browser",
        location: Memory,
        bounds: &[Constant("src/markdown/mod.rs::PAGE_BYTES_MAX"), Setting("render.at_once_max"), Setting("limits.work_memory_mib")],
        at_bound: "The page's end is cut in the browser; a longer answer of the worker is refused.",
        enforced: &["src/outside/render/job.rs::read_answer", "src/flows/content/rendering.rs::convert"],
        tests: &["src/outside/render/job.rs::a_worker_cannot_send_more_than_a_page"],
    },
    BoundedState {
        what: "A picture of a page, on its way from the browser and in a report",
        location: Memory,
        bounds: &[Constant("src/outside/render/job.rs::PNG_BYTES_MAX"), Constant("src/outside/render/picture.rs::PICTURE_PIXELS_MAX"), Setting("render.at_once_max"), Setting("limits.unsettled_mib")],
        at_bound: "It is taken smaller, at last not at all; a larger one of the worker is refused. The report is sold without it and says so.",
        enforced: &["src/outside/render/picture.rs::take", "src/outside/render/job.rs::read_answer", "src/outside/render/mod.rs::checked_picture"],
        tests: &["src/outside/render/job.rs::a_worker_cannot_send_more_than_a_page", "src/outside/render/picture.rs::only_a_whole_png_of_a_page_is_a_picture",
            "src/outside/render/tests.rs::a_picture_that_cannot_be_taken_leaves_the_page"],
    },
    BoundedState {
        what: "Names that are looked up, those that wait for a thread, and callers that wait for one name",
        location: Calls,
        bounds: &[Constant("src/outside/network.rs::FREE_PLACES"), Constant("src/outside/network.rs::FREE_PLACES_OF_EACH"), Constant("src/outside/network.rs::WAITERS_OF_PLACE_MAX"), Constant("src/outside/network.rs::lookup_max"), Constant("src/outside/network/dns.rs::TRY_MAX")],
        at_bound: "503 at once, or after the wait. What buyers have paid for has places of its own, and a client or a domain has two look-ups without an answer.",
        enforced: &["src/outside/network.rs::FREE_PLACES_OF_EACH", "src/flows/quotes/quote.rs::inspect"],
        tests: &["src/outside/network/tests.rs::hanging_lookups_that_nobody_pays_for_keep_no_buyer_waiting", "src/outside/network/tests.rs::one_client_and_one_domain_have_two_lookups_without_payment_at_once", "tests/it/lookups.rs::quotes_of_names_that_hang_keep_no_buyer_waiting"],
    },
    BoundedState {
        what: "Sites that are asked for robots.txt",
        location: Calls,
        bounds: &[Constant("src/outside/robots.rs::LOOKUPS_MAX"), Constant("src/outside/robots.rs::PLACE_WAIT_MAX"), Constant("src/outside/robots.rs::TIME_MAX")],
        at_bound: "The site is not asked; its robots.txt counts as unknown.",
        enforced: &["src/outside/robots.rs::ask"],
        tests: &["tests/it/policy.rs::a_slow_robots_txt_does_not_hold_up_a_sale"],
    },
    BoundedState {
        what: "Sources that are examined, documents that are made",
        location: Calls,
        bounds: &[Constant("src/app.rs::CHECKS_MAX"), Constant("src/app.rs::FETCH_WAIT_MAX")],
        at_bound: "503 after the wait.",
        enforced: &["src/outside/call.rs::run"],
        tests: &["tests/it/hostile/floods.rs::a_crowd_of_readers_of_a_large_report_has_a_bounded_part_of_memory"],
    },
    BoundedState {
        what: "Calls of the facilitator",
        location: Calls,
        bounds: &[Setting("payment.calls_max"), Setting("payment.verify_seconds_max"), Setting("payment.settle_seconds_max"), Constant("src/outside/facilitator.rs::VERIFY_WAIT_MAX"), Constant("src/outside/facilitator.rs::SETTLE_WAIT_MAX")],
        at_bound: "503 after the wait; the payment is not used, or its settlement is looked into later.",
        enforced: &["src/outside/facilitator.rs::VERIFY_WAIT_MAX"],
        tests: &["src/outside/facilitator/tests.rs::calls_beyond_the_limit_wait_and_are_then_refused"],
    },
    BoundedState {
        what: "Inquiries of the chain",
        location: Calls,
        bounds: &[Constant("src/outside/chain.rs::INQUIRIES_MAX"), Constant("src/outside/chain.rs::TRANSACTIONS_MAX"), Setting("chain.seconds_max"), Setting("limits.credits_per_minute")],
        at_bound: "503 after the wait; a settlement stays unknown until the next look.",
        enforced: &["src/outside/chain.rs::PLACE_WAIT_MAX"],
        tests: &["tests/it/chain.rs::a_node_that_lies_or_stalls_decides_nothing"],
    },
    BoundedState {
        what: "Handlers that go on after their client has left",
        location: Calls,
        bounds: &[Constant("src/appliance.rs::RUNS_MAX")],
        at_bound: "503 at once.",
        enforced: &["src/appliance.rs::RUNS_MAX"],
        tests: &["src/http/server.rs::work_that_goes_on_without_its_client_is_bounded"],
    },
    BoundedState {
        what: "Callers that wait for a place among the calls of any kind, and for work memory",
        location: Memory,
        bounds: &[Constant("src/outside/call.rs::WAITERS_OF_PLACE_MAX"), Constant("src/outside/call.rs::WAITERS_OF_HOLDER_MAX"), Constant("src/outside/memory.rs::WAITERS_MAX")],
        at_bound: "503 at once (429 for a payer's sales); a payment is not used.",
        enforced: &["src/outside/call.rs::WAITERS_OF_PLACE_MAX", "src/outside/memory.rs::WAITERS_MAX"],
        tests: &["src/outside/call.rs::a_limit_has_a_bounded_queue", "src/outside/call.rs::a_holder_has_a_bounded_queue", "src/outside/memory.rs::the_queue_is_bounded"],
    },
    BoundedState {
        what: "Constant answers in gzip and brotli, and long answers that are being encoded",
        location: Memory,
        bounds: &[Constant("src/http/coding.rs::KEPT_BYTES_MAX"), Constant("src/http/coding.rs::KEPT_MAX"),
            Constant("src/http/coding.rs::BYTES_MAX"), Derived("half of the cores encode long answers at once")],
        at_bound: "The constants are forgotten and encoded again when they are asked for. Other answers go out as they are.",
        enforced: &["src/http/coding.rs::keep", "src/http/coding.rs::encode"],
        tests: &["src/http/coding.rs::constants_are_bounded",
            "src/http/coding.rs::without_a_free_thread_a_long_answer_goes_out_as_it_is"],
    },
    BoundedState {
        what: "Which cached pages were found fit to be sold",
        location: Memory,
        bounds: &[Constant("src/state/sellable_pages.rs::PAGES_MAX")],
        at_bound: "All are forgotten, and each page is judged again at its next sale.",
        enforced: &["src/state/sellable_pages.rs::judge"],
        tests: &["src/state/sellable_pages.rs::pages_are_forgotten_once_there_are_too_many"],
    },
    BoundedState {
        what: "Constant pages and their markdown",
        location: Memory,
        bounds: &[Derived("one of each for each row of the route table")],
        at_bound: "Nothing to fill: each is made once and shared.",
        enforced: &["src/state/markdown_alternates.rs::Alternates"],
        tests: &["tests/it/hostile/crowds.rs::a_constant_page_is_converted_once", "tests/it/hostile/crowds.rs::a_crowd_that_asks_for_markdown_has_a_bounded_part_of_memory"],
    },
    BoundedState {
        what: "Reads and writes that wait for the data file",
        location: Memory,
        bounds: &[Constant("src/store/threads.rs::QUEUE_MAX")],
        at_bound: "503 at once.",
        enforced: &["src/store/threads.rs::queue"],
        tests: &["src/store/tests/unpaid.rs::beyond_its_queue_the_data_file_is_busy"],
    },
    BoundedState {
        what: "Notices and mails that are being sent",
        location: Calls,
        bounds: &[Constant("src/outside/hooks.rs::NOTICES_MAX"), Constant("src/outside/mailer.rs::MAILS_MAX")],
        at_bound: "The others stay due on record.",
        enforced: &["src/flows/operations/mail.rs::take", "src/outside/hooks.rs::NOTICES_MAX"],
        tests: &["tests/it/leads.rs::a_notice_is_tried_three_times", "tests/it/mail.rs::mails_wait_for_a_server_and_outlive_the_process"],
    },
];

/// The table as `data/ops/bounds.md` has it.
pub fn document() -> String {
    let mut text = String::from(
        "# What somebody who has not paid can make the service hold\n\n\
         Made from `src/bounds.rs` (`UPDATE_GOLDEN=1 cargo test --lib bounds`). Each bound is a setting, or a constant of \
         the named source file.\n\n\
         | what is held | where | bound | at the bound | enforced in |\n|---|---|---|---|---|\n",
    );
    for held in BOUNDS {
        let bounds: Vec<String> = held.bounds.iter().map(Bound::text).collect();
        let enforced: Vec<String> = held.enforced.iter().map(|at| format!("`{at}`")).collect();
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} |\n",
            held.what,
            held.location.text(),
            bounds.join(", "),
            held.at_bound,
            enforced.join(", "),
        ));
    }
    text.push_str("\nTables of the data file that strangers cannot make grow:\n\n| table | why |\n|---|---|\n");
    for (table, why) in NOT_BY_STRANGERS {
        text.push_str(&format!("| `{table}` | {why} |\n"));
    }
    text
}

impl Location {
    fn text(&self) -> String {
        match self {
            Tables([]) => "disk".to_owned(),
            Tables(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                format!("data file: {}", names.join(", "))
            }
            Memory => "memory".to_owned(),
            Connections => "connections".to_owned(),
            Calls => "calls under way".to_owned(),
        }
    }
}

impl Bound {
    fn text(&self) -> String {
        match self {
            Setting(key) => format!("`{key}`"),
            Constant(place) => {
                let name = place.split_once("::").map_or(*place, |(_, name)| name);
                format!("`{name}`")
            }
            Derived(why) => (*why).to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::store::TABLE_NAMES;

    fn read(path: &str) -> Option<String> {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).ok()
    }

    /// The lines of a file that a place names, and the name.
    fn split(place: &str) -> (String, &str) {
        let (file, name) = place.split_once("::").expect("file::name");
        let text = read(file).unwrap_or_else(|| panic!("{file} of {place} is not there"));
        (text, name)
    }

    #[test]
    fn every_table_of_the_data_file_is_bounded_or_not_written_by_strangers() {
        let bounded: BTreeSet<&str> = BOUNDS
            .iter()
            .flat_map(|held| match held.location {
                Tables(names) => names,
                _ => &[],
            })
            .copied()
            .collect();
        let others: BTreeSet<&str> = NOT_BY_STRANGERS.iter().map(|(name, _)| *name).collect();
        for name in TABLE_NAMES {
            assert!(
                bounded.contains(name) != others.contains(name),
                "table {name} has to be in BOUNDS or in NOT_BY_STRANGERS, and not in both"
            );
        }
        for name in bounded.union(&others) {
            assert!(TABLE_NAMES.contains(name), "there is no table {name}");
        }
    }

    #[test]
    fn every_bound_and_every_place_that_enforces_it_exists() {
        let settings = read("src/config/settings.rs").expect("the settings");
        for held in BOUNDS {
            let what = held.what;
            assert!(
                !held.bounds.is_empty() && !held.enforced.is_empty(),
                "{what}"
            );
            for bound in held.bounds {
                match bound {
                    Setting(key) => {
                        assert!(settings.contains(&format!("(\"{key}\",")), "{what}: {key}");
                    }
                    Constant(place) => {
                        let (text, name) = split(place);
                        let is_there = [format!("const {name}: "), format!("pub {name}: ")]
                            .iter()
                            .any(|declared| text.contains(declared));
                        assert!(is_there, "{what}: {place}");
                    }
                    Derived(why) => assert!(!why.is_empty(), "{what}"),
                }
            }
            for place in held.enforced {
                let (text, name) = split(place);
                let declared = [
                    format!("fn {name}("),
                    format!("fn {name}<"),
                    format!("const {name}: "),
                    format!("struct {name} "),
                    format!("struct {name}("),
                    format!("pub {name}: "),
                ];
                assert!(
                    declared.iter().any(|declared| text.contains(declared)),
                    "{what}: {place} is not there"
                );
            }
        }
    }

    #[test]
    fn every_bound_is_shown_by_a_test() {
        for held in BOUNDS {
            assert!(!held.tests.is_empty(), "{}", held.what);
            for test in held.tests {
                let (text, name) = split(test);
                let named = format!("fn {name}(");
                let lines = text.lines().zip(text.lines().skip(1));
                let is_test = lines.into_iter().any(|(above, line)| {
                    line.contains(&named)
                        && (above.contains("::test]") || above.contains("#[test]"))
                });
                assert!(is_test, "{}: {test} is no test", held.what);
            }
        }
    }

    #[test]
    fn the_document_is_the_table() {
        const PATH: &str = "data/ops/bounds.md";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PATH);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, document()).expect("it can be written");
        }
        assert_eq!(
            read(PATH).unwrap_or_default(),
            document(),
            "{PATH} is not what src/bounds.rs says; run with UPDATE_GOLDEN=1"
        );
    }
}
