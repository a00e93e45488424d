//! The attacks on sellers that are known, each with the tests that show what becomes of it here. An attack without a
//! test, and a test that is gone, fail.

use std::path::{Path, PathBuf};

/// Attack, what it is, and its tests as `file::function`.
#[rustfmt::skip]
const SHOWN: &[(u8, &str, &[&str])] = &[
    (1, "the same payment many times at once", &["tests/it/replay.rs::fifty_identical_requests_at_once_are_one_sale",
        "tests/it/limits.rs::two_hundred_identical_requests_are_one_charge"]),
    (2, "the same payment later", &["tests/it/replay.rs::a_repeated_request_gets_the_same_bytes_five_times",
        "tests/it/replay.rs::a_kept_answer_is_given_for_15_minutes", "tests/it/replay.rs::a_kept_answer_outlives_a_restart"]),
    (3, "the same payment for something else", &["tests/it/proof_packs.rs::a_payment_buys_the_product_it_was_signed_for",
        "tests/it/replay.rs::a_used_payment_buys_nothing_else",
        "tests/it/replay.rs::one_payment_for_two_pages_at_once_buys_one"]),
    (4, "a cheap tier paid and a dear one asked for", &["tests/it/access.rs::query_header_and_body_must_agree",
        "tests/it/access.rs::two_places_that_disagree_are_refused_and_two_that_agree_are_served",
        "tests/it/access.rs::a_cheap_payment_buys_no_dear_page", "tests/it/proof_packs.rs::query_header_and_body_must_agree"]),
    (5, "an offer that is not ours", &["tests/it/failure.rs::an_altered_offer_is_answered_with_a_fresh_challenge",
        "tests/it/failure.rs::spelling_does_not_matter_where_it_cannot", "tests/it/access.rs::the_facilitator_is_told_our_own_offer"]),
    (6, "a payment for another resource", &["tests/it/failure.rs::an_authorization_for_something_else_is_answered_with_a_fresh_challenge",
        "src/x402/resource.rs::origin_and_path_count_and_the_query_does_not"]),
    (7, "a window that is over, not yet open, or far too long", &["tests/it/failure.rs::the_authorization_s_window_must_leave_time_for_the_work"]),
    (8, "odd amounts", &["tests/it/failure.rs::an_authorization_for_something_else_is_answered_with_a_fresh_challenge",
        "tests/it/failure.rs::a_payment_of_the_wrong_shape_is_invalid", "src/domain/amount.rs::units_are_canonical_decimal_digits"]),
    (9, "money that is gone after the work", &["tests/it/money.rs::a_buyer_who_has_spent_the_money_meanwhile_gets_nothing",
        "tests/it/limits.rs::a_payer_whose_settlements_fail_is_not_worked_for"]),
    (10, "a settlement that times out and has happened", &["tests/it/money.rs::a_doubtful_settlement_is_503_and_the_same_payment_delivers_later",
        "src/tests/simulation.rs::no_history_loses_money_or_gives_goods_away"]),
    (11, "a crash between money and answer", &["tests/it/restart.rs::a_crash_after_the_answer_was_kept_is_reconciled",
        "tests/it/restart.rs::a_crash_after_the_money_has_moved_charges_once_and_delivers",
        "tests/kill/main.rs::two_hundred_kills_lose_nothing_and_honour_nothing_twice"]),
    (12, "a facilitator that lies", &["src/outside/facilitator/tests/verdicts.rs::verdicts_are_taken_from_true_replies_alone",
        "src/outside/facilitator/tests/settlements.rs::settlements_are_believed_field_by_field", "src/outside/facilitator/tests/verdicts.rs::replies_that_are_none_are_garbled",
        "src/outside/facilitator/tests.rs::a_redirect_is_not_followed", "src/outside/facilitator/tests/verdicts.rs::the_limit_counts_unpacked_bytes"]),
    (13, "no facilitator", &["tests/it/challenge.rs::the_price_is_told_while_the_facilitator_is_gone",
        "tests/it/money.rs::a_verification_without_a_verdict_is_503_and_costs_nothing"]),
    (14, "somebody else's payment identifier", &["tests/it/replay.rs::somebody_else_s_identifier_gives_nothing"]),
    (15, "credits farmed from one's own failing page", &["tests/it/retry.rs::every_transient_outage_earns_a_credit",
        "tests/it/retry.rs::a_final_refusal_earns_nothing_and_costs_nothing", "tests/it/retry.rs::a_new_payment_voids_the_credit_of_the_old_one",
        "tests/it/limits.rs::one_buyer_does_not_take_all_places", "tests/it/limits.rs::one_slow_domain_does_not_take_all_places"]),
    (16, "a credit spent twice", &["tests/it/retry.rs::fifty_redemptions_at_once_have_one_winner",
        "tests/it/retry.rs::a_credit_is_good_for_three_attempts"]),
    (17, "a credit for something else, or a guessed one", &["tests/it/retry.rs::nobody_learns_why_a_credit_is_not_good",
        "tests/it/retry.rs::credits_are_stored_hashed"]),
    (18, "work for those who do not pay", &["tests/it/limits.rs::a_thousand_unpaid_requests_call_nobody",
        "tests/it/rates.rs::a_domain_is_looked_up_for_nothing_only_so_often"]),
    (19, "paid answers from somebody's cache", &["tests/it/access.rs::the_answer_s_headers_say_what_it_is_and_that_it_is_private"]),
    (20, "an offer that changes before it is paid", &["tests/it/restart.rs::an_offer_of_the_last_five_minutes_is_honoured"]),
    (21, "other spellings of a path", &["tests/it/http.rs::path_tricks_never_reach_the_paid_operation"]),
    (22, "two payments in one request", &["tests/it/failure.rs::two_payments_in_one_request_are_refused",
        "tests/it/hostile/wire.rs::a_payment_in_a_broken_header_pays_for_nothing",
        "tests/it/hostile/wire.rs::a_payment_in_a_trailer_pays_for_nothing"]),
    (23, "a header that is no payment", &["tests/it/failure.rs::a_header_that_is_no_base64_is_an_invalid_payment",
        "tests/it/failure.rs::a_payment_that_is_no_json_object_is_invalid", "tests/it/http.rs::headers_over_16_kib_are_too_large",
        "src/x402/proof/tests.rs::a_changed_byte_never_panics", "tests/it/untrusted.rs::any_payment_header_is_read_or_refused"]),
    (24, "a nonce in other letters", &["tests/it/failure.rs::a_payment_of_the_wrong_shape_is_invalid",
        "tests/it/replay.rs::a_nonce_in_capitals_is_the_same_nonce"]),
    (25, "a signature in other bytes", &["tests/it/replay.rs::the_same_authorization_in_other_bytes_is_not_given_the_answer",
        "tests/it/replay.rs::one_authorization_in_two_payloads_at_once_is_settled_once"]),
    (26, "a transfer that was used, is another's, or does not pay", &["tests/it/legacy_access.rs::a_hash_buys_once",
        "tests/it/legacy_access.rs::of_many_at_once_one_wins", "tests/it/legacy_access.rs::each_transfer_of_a_transaction_buys_once",
        "tests/it/legacy_access.rs::what_is_no_hash_is_refused_before_anybody_is_asked",
        "tests/it/legacy_access.rs::a_transaction_that_does_not_pay_is_refused", "tests/it/legacy_access.rs::an_x402_settlement_is_no_transfer",
        "tests/it/legacy_access.rs::a_transfer_waits_for_its_confirmations", "tests/it/legacy_access.rs::a_reorganised_transfer_is_none",
        "tests/it/legacy_access.rs::an_old_transfer_buys_nothing", "tests/it/legacy_access.rs::no_transfer_is_lost_or_spent_twice"]),
    (27, "a source that is no label", &["src/domain/attribution.rs::a_label_that_does_not_fit_is_dropped",
        "tests/it/access.rs::the_alias_sells_the_same_and_remembers_where_the_buyer_came_from",
        "tests/it/site.rs::a_source_that_is_no_label_is_dropped"]),
    (28, "script in what strangers typed", &["tests/it/quotes.rs::hostile_targets_are_shown_as_text",
        "tests/it/site.rs::every_page_has_its_headers_and_runs_no_script_but_ours", "src/pages/tests.rs::hostile_text_is_only_ever_text",
        "tests/it/leads.rs::forms_work_without_script"]),
    (29, "a page that gives a model orders", &["src/evidence/synthesis/tests.rs::the_prompt_holds_evidence_in_a_fence_that_it_cannot_close",
        "src/evidence/synthesis/tests.rs::a_claim_that_says_more_than_its_evidence_is_dropped",
        "src/evidence/synthesis/tests.rs::quotes_must_stand_in_what_is_cited", "src/evidence/synthesis/tests.rs::ids_must_be_known",
        "src/evidence/synthesis/tests.rs::an_answer_that_cannot_be_read_changes_nothing"]),
    (30, "a foreign Host", &["tests/it/http.rs::a_foreign_host_appears_nowhere"]),
    (31, "control bytes in the log", &["src/log.rs::a_line_is_json_whatever_it_carries"]),
    (34, "an event of the payment provider forged, changed, old or repeated", &[
        "tests/it/webhook.rs::what_the_provider_did_not_sign_now_is_refused_without_a_trace",
        "tests/it/webhook.rs::the_same_event_fifty_times_at_once_is_one_order_and_one_mail",
        "tests/it/webhook.rs::a_payment_that_does_not_fit_is_set_aside", "tests/it/webhook.rs::events_arrive_in_any_order",
        "tests/it/webhook.rs::what_is_forgotten_of_an_event_makes_no_second_order",
        "src/signing/stamp.rs::what_was_signed_is_taken_and_nothing_else"]),
    (35, "deliveries guessed, and buyers found by asking for theirs", &[
        "tests/it/orders.rs::addresses_that_are_no_pass_open_nothing",
        "tests/it/orders.rs::a_link_leads_back_for_thirty_days_and_to_one_order",
        "tests/it/orders.rs::who_asks_for_a_lost_delivery_learns_nothing_and_the_buyer_gets_a_mail",
        "tests/it/orders.rs::a_lost_delivery_is_asked_for_a_few_times_a_minute"]),
    (38, "led to somebody else's place to pay", &["tests/it/bundles.rs::the_payment_page_is_no_open_redirect",
        "tests/it/bundles.rs::a_lead_is_led_to_its_payment_link"]),
    (39, "notices sent where somebody else wants them", &["tests/it/leads.rs::a_new_lead_is_announced_once",
        "src/outside/hooks.rs::whatever_is_no_yes_is_a_failure_and_no_redirect_is_followed"]),
    (36, "guessed quotes and reports", &["tests/it/reports.rs::reports_that_never_were_are_not_found",
        "tests/it/quotes.rs::quotes_that_never_were_are_not_found",
        "src/domain/ids.rs::an_identifier_reads_back_and_has_one_spelling"]),
    (40, "connections that never end", &["tests/it/limits.rs::headers_that_never_end_are_cut", "tests/it/limits.rs::a_body_that_never_ends_is_cut",
        "tests/it/limits.rs::an_idle_connection_is_closed", "tests/it/limits.rs::whoever_does_not_read_is_dropped",
        "tests/it/limits.rs::a_connection_beyond_the_cap_waits_for_a_place",
        "tests/it/hostile/floods.rs::a_flood_of_waiting_connections_keeps_nobody_out",
        "tests/it/hostile/floods.rs::half_requests_take_no_more_memory_than_they_are_long",
        "tests/it/hostile/floods.rs::whoever_reads_next_to_nothing_is_dropped",
        "tests/it/hostile/floods.rs::unread_answers_have_a_bounded_part_of_memory",
        "tests/it/hostile/floods.rs::a_client_with_too_many_connections_is_told_and_others_are_served",
        "tests/it/hostile/shortage.rs::a_flood_of_connections_leaves_descriptors_for_sales"]),
    (32, "exports that run in a spreadsheet", &["src/domain/csv.rs::nothing_that_a_stranger_writes_is_a_formula",
        "tests/it/console.rs::exports_are_whole_and_run_nothing_in_a_spreadsheet"]),
    (33, "the operator's token guessed, and forms from elsewhere", &["src/signing/session.rs::a_token_is_long_and_plain",
        "src/signing/session.rs::nobody_else_makes_a_cookie", "tests/it/console.rs::tries_to_sign_in_are_counted",
        "tests/it/console.rs::without_a_token_the_console_says_so_and_stays_closed",
        "tests/it/console.rs::nothing_changes_but_from_a_page_of_ours", "tests/it/console.rs::programs_bring_the_token_as_bearer"]),
    (37, "headers smuggled into a mail", &["src/outside/mailer/tests.rs::nothing_in_a_mail_becomes_a_header",
        "src/outside/mailer/tests.rs::an_address_is_one_address", "tests/it/mail.rs::an_address_that_is_none_reaches_no_server"]),
    (41, "pages made to break the converter", &["tests/it/conversion.rs::hostile_pages_end_in_an_answer",
        "tests/it/hostile/pages.rs::every_bomb_is_answered_within_its_memory", "src/markdown/tests/bounds.rs::bombs_end_in_an_answer",
        "src/outside/web/tests/bodies.rs::a_bomb_is_stopped_at_the_limit_and_not_at_its_end"]),
    (42, "a full or failing disk", &["tests/it/limits.rs::a_full_disk_stops_sales_and_nothing_else",
        "tests/it/hostile/shortage.rs::a_data_file_that_cannot_grow_loses_nothing",
        "src/store/tests/room.rs::without_room_nothing_is_written_and_nothing_fails",
        "src/store/tests/room.rs::a_start_without_room_says_so_and_leaves_the_file_alone",
        "src/store/tests/backup.rs::a_copy_that_ends_half_way_is_gone_and_says_why",
        "tests/it/hostile/file.rs::a_flipped_bit_is_found_by_the_check",
        "src/tests/power_loss.rs::after_an_error_of_the_disk_nothing_is_acknowledged",
        "src/tests/power_loss.rs::what_was_acknowledged_survives_a_loss_of_power_at_any_moment"]),
    (43, "one wallet's money promised to many sales", &["tests/it/limits.rs::one_wallet_with_many_nonces_gets_little_work_for_nothing"]),
    (44, "limits evaded by another address", &["tests/it/rates.rs::an_ipv6_network_is_one_client",
        "tests/it/rates.rs::nobody_speaks_for_others_unless_trusted",
        "src/limits.rs::a_hundred_thousand_clients_take_no_more_memory_than_the_bound"]),
];

/// The last of the numbers that the attacks are known by.
const LAST: u8 = 44;

fn missing(test: &str) -> Option<String> {
    let (file, function) = test.split_once("::").expect("file::function");
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let Ok(text) = std::fs::read_to_string(path) else {
        return Some(format!("{file} is not there"));
    };
    let named = format!("fn {function}(");
    let is_test = text.lines().zip(text.lines().skip(1)).any(|(above, line)| {
        line.contains(&named) && (above.contains("::test]") || above.contains("#[test]"))
    });
    (!is_test).then(|| format!("{test} is no test"))
}

#[test]
fn every_attack_has_its_test() {
    let mut wrong: Vec<String> = SHOWN
        .iter()
        .flat_map(|(_, _, tests)| *tests)
        .filter_map(|test| missing(test))
        .collect();
    for attack in 1..=LAST {
        let shown = SHOWN.iter().filter(|(number, ..)| *number == attack);
        if shown.count() != 1 {
            wrong.push(format!("attack {attack} is not there once"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What the README promises its readers under Security, each with the tests that hold it to that.
#[test]
fn every_promise_has_its_test() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(readme).expect("a README");
    let (_, security) = readme
        .split_once("\n## Security\n")
        .expect("a part on security");
    let security = security.split("\n## ").next().unwrap_or_default();
    let rows: Vec<&str> = security
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .collect();
    assert!(rows.len() >= 20, "{} promises", rows.len());
    let mut wrong = Vec::new();
    for row in rows {
        let tests: Vec<&str> = row
            .split('`')
            .filter(|piece| piece.contains("::"))
            .collect();
        if tests.is_empty() {
            wrong.push(format!("no test: {row}"));
        }
        wrong.extend(tests.into_iter().filter_map(missing));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
