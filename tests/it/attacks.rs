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
        "tests/it/kills.rs::two_hundred_kills_lose_nothing_and_honour_nothing_twice"]),
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
    (29, "a page that gives a model orders", &["src/evidence/report/synthesis/tests.rs::the_prompt_holds_evidence_in_a_fence_that_it_cannot_close",
        "src/evidence/report/synthesis/tests.rs::a_claim_that_says_more_than_its_evidence_is_dropped",
        "src/evidence/report/synthesis/tests.rs::quotes_must_stand_in_what_is_cited", "src/evidence/report/synthesis/tests.rs::ids_must_be_known",
        "src/evidence/report/synthesis/tests.rs::an_answer_that_cannot_be_read_changes_nothing"]),
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
        "tests/it/console.rs::nothing_changes_but_from_a_page_of_ours", "tests/it/console.rs::programs_bring_the_token_as_bearer",
        "tests/it/console.rs::signing_out_ends_the_session_and_no_other",
        "src/store/sessions.rs::an_ended_session_is_known_until_its_cookie_is_long_expired"]),
    (37, "headers smuggled into a mail", &["src/outside/mailer/tests.rs::nothing_in_a_mail_becomes_a_header",
        "src/outside/mailer/tests.rs::an_address_is_one_address", "tests/it/mail.rs::an_address_that_is_none_reaches_no_server"]),
    (41, "pages made to break the converter", &["tests/it/conversion.rs::hostile_pages_end_in_an_answer",
        "tests/it/hostile/pages.rs::every_bomb_is_answered_within_its_memory", "tests/it/hostile/pages.rs::no_page_takes_the_converter_more_than_its_memory", "src/markdown/tests/bounds.rs::bombs_end_in_an_answer",
        "src/outside/web/tests/bodies.rs::a_bomb_is_stopped_at_the_limit_and_not_at_its_end"]),
    (42, "a full or failing disk", &["tests/it/limits.rs::a_full_disk_stops_sales_and_nothing_else",
        "tests/it/limits.rs::a_flood_of_bundle_quotes_stays_within_its_bound",
        "tests/it/limits.rs::quotes_are_answered_and_not_kept_without_room",
        "tests/it/limits.rs::sales_that_never_settle_leave_nothing_behind",
        "tests/it/limits.rs::unsettled_answers_beyond_their_bound_are_refused_uncharged",
        "src/store/tests/unpaid.rs::quotes_beyond_their_bound_push_out_the_oldest",
        "src/store/tests/unpaid.rs::without_room_for_sales_nothing_unpaid_is_kept",
        "src/store/tests/goods.rs::a_sale_that_fails_takes_nothing_that_others_need",
        "tests/it/hostile/shortage.rs::a_data_file_that_cannot_grow_loses_nothing",
        "src/store/tests/disk_space.rs::without_room_nothing_is_written_and_nothing_fails",
        "src/store/tests/disk_space.rs::a_start_without_room_says_so_and_leaves_the_file_alone",
        "src/store/tests/backup.rs::a_copy_that_ends_half_way_is_gone_and_says_why",
        "tests/it/hostile/file.rs::a_flipped_bit_is_found_by_the_check",
        "src/tests/power_loss.rs::after_an_error_of_the_disk_nothing_is_acknowledged",
        "src/tests/power_loss.rs::what_was_acknowledged_survives_a_loss_of_power_at_any_moment"]),
    (43, "one wallet's money promised to many sales", &["tests/it/limits.rs::one_wallet_with_many_nonces_gets_little_work_for_nothing"]),
    (44, "limits evaded by another address", &["tests/it/rates.rs::an_ipv6_network_is_one_client",
        "tests/it/rates.rs::nobody_speaks_for_others_unless_trusted",
        "src/limits.rs::a_hundred_thousand_clients_take_no_more_memory_than_the_bound"]),
    (45, "another's request read, changed or led astray by repeating it", &[
        "tests/it/leads.rs::who_repeats_another_s_request_learns_and_changes_nothing",
        "tests/it/leads.rs::an_identifier_fills_no_form", "tests/it/bundles.rs::a_lead_is_led_to_its_payment_link",
        "tests/it/webhook.rs::a_mail_leads_nowhere_but_to_us", "src/domain/mail.rs::nothing_that_is_quoted_is_a_link"]),
    (46, "paying in another's name, and asking in the name of who pays", &[
        "tests/it/webhook.rs::a_payment_without_a_reference_is_delivered_to_the_address_alone",
        "tests/it/webhook.rs::an_address_that_fits_more_than_one_lead_or_none_is_looked_at",
        "tests/it/webhook.rs::the_operator_attaches_a_payment_to_its_lead",
        "tests/it/orders.rs::without_mail_nobody_is_given_a_link",
        "src/store/leads/tests.rs::a_contact_s_open_lead_for_a_bundle_is_found_where_there_is_one_alone"]),
    (47, "forms sent from other sites in a visitor's name", &["tests/it/leads.rs::forms_of_other_sites_are_refused"]),
    (48, "records kept for those who only follow a link", &["tests/it/bundles.rs::going_to_pay_keeps_nothing"]),
    (49, "sales counted by strangers", &["tests/it/discovery.rs::anybody_sees_that_it_runs_and_the_operator_what_is_sold",
        "tests/it/discovery.rs::figures_come_as_prometheus_text_too"]),
    (50, "a stranger's words on a page of ours", &["tests/it/reports.rs::a_report_is_shared_under_another_name_and_taken_back",
        "src/store/tests/reports.rs::only_what_is_paid_for_and_not_over_can_be_shared"]),
    (51, "pages asked for as markdown by a crowd", &["tests/it/hostile/crowds.rs::a_crowd_that_asks_for_markdown_has_a_bounded_part_of_memory",
        "tests/it/hostile/crowds.rs::a_constant_page_is_converted_once", "src/outside/call.rs::a_limit_has_a_bounded_queue",
        "src/outside/call.rs::a_holder_has_a_bounded_queue", "src/outside/call.rs::holders_with_a_call_are_bounded",
        "src/outside/memory.rs::the_queue_is_bounded"]),
    (52, "bodies that are sent half by a crowd", &["tests/it/hostile/crowds.rs::half_sent_bodies_have_a_bounded_part_of_memory",
        "tests/it/hostile/crowds.rs::the_oldest_half_sent_body_makes_room", "src/http/bodies.rs::small_bodies_need_no_room",
        "src/http/bodies.rs::the_oldest_incomplete_body_makes_room_once_it_has_had_its_time"]),
    (53, "large events that the payment provider did not send", &["tests/it/hostile/crowds.rs::an_event_that_cannot_be_the_provider_s_is_refused_at_its_head",
        "tests/it/hostile/crowds.rs::a_few_bodies_at_once_may_be_large", "src/http/bodies.rs::a_few_bodies_may_be_large",
        "src/signing/stamp.rs::a_head_is_worth_a_body_if_it_can_be_a_signature_of_now"]),
    (54, "every connection taken by unfinished heads", &["tests/it/hostile/crowds.rs::unfinished_heads_make_room_for_the_next_client",
        "tests/it/hostile/crowds.rs::a_request_in_progress_is_never_closed_for_another",
        "tests/it/limits.rs::a_connection_beyond_the_cap_waits_for_a_place"]),
    (55, "one client's requests through a trusted proxy", &["tests/it/hostile/crowds.rs::one_client_behind_a_proxy_has_so_many_requests_in_progress"]),
    (56, "work that goes on after its client has left, without end", &["src/http/server.rs::work_that_goes_on_without_its_client_is_bounded"]),
    (57, "a facilitator that reports settlements that are not on chain", &[
        "tests/it/settlements.rs::an_invented_settlement_shows_within_a_minute", "tests/it/settlements.rs::every_lie_has_its_reason",
        "tests/it/settlements.rs::a_lying_facilitator_gives_no_goods_away",
        "tests/it/settlements.rs::a_node_that_fails_contradicts_nobody_and_loses_nothing"]),
    (58, "an authorization used elsewhere, beside a transfer to us that keeps its end unknown", &[
        "tests/it/settlements.rs::a_nonce_used_elsewhere_beside_a_transfer_to_us_has_failed",
        "src/x402/onchain.rs::no_other_transfer_keeps_a_mark_undecided"]),
    (59, "settlements that never end", &["tests/it/settlements.rs::an_unknown_settlement_is_given_up_after_a_day",
        "tests/it/settlements.rs::the_answer_of_a_settlement_that_was_given_up_is_dropped_in_the_end",
        "tests/it/settlements.rs::a_payer_with_many_unknown_settlements_waits"]),
    (60, "somebody else's transfer, shown by its public hash", &[
        "tests/it/legacy_proof.rs::who_has_not_sent_the_transfer_buys_nothing_with_it",
        "tests/it/legacy_access.rs::switched_off_no_transfer_is_asked_for_or_taken",
        "tests/it/legacy_access.rs::what_a_transfer_brings_beyond_the_price_is_no_revenue"]),
    (61, "names whose servers never answer, quoted for nothing", &[
        "tests/it/lookups.rs::quotes_of_names_that_hang_keep_no_buyer_waiting",
        "tests/it/lookups.rs::one_client_has_two_lookups_for_nothing_at_once",
        "src/outside/network/tests.rs::hanging_lookups_that_nobody_pays_for_keep_no_buyer_waiting",
        "src/outside/network/tests.rs::one_client_and_one_domain_have_two_lookups_without_payment_at_once",
        "src/outside/network/tests.rs::a_buyer_does_not_inherit_a_stranger_s_deadline",
        "src/outside/network/tests.rs::a_caller_beyond_those_that_may_wait_is_told_at_once"]),
    (62, "name servers that fail while somebody pays", &[
        "tests/it/lookups.rs::a_lookup_without_an_answer_is_an_outage_and_no_such_name_is_final",
        "tests/it/lookups.rs::a_source_whose_name_servers_are_silent_has_its_three_tries",
        "src/outside/network/tests.rs::a_buyer_is_not_refused_for_a_failure_that_a_stranger_met",
        "src/outside/network/tests.rs::name_servers_are_asked_and_their_answers_told_apart"]),
    (63, "names of private networks", &["tests/it/lookups.rs::names_of_private_networks_are_not_looked_up",
        "tests/it/lookups.rs::what_the_lab_s_name_server_answers_is_checked_like_any_answer",
        "src/domain/target/tests.rs::every_target_of_the_reject_list_is_refused"]),
    (64, "a page that is not for shared caches, sold to others", &[
        "tests/it/access.rs::a_page_that_its_site_keeps_from_shared_caches_is_its_buyer_s_alone",
        "tests/it/access.rs::a_copy_that_became_private_leaves_the_cache",
        "src/domain/cache.rs::a_site_decides_whether_its_page_is_sold_again"]),
    (65, "purchases watched through free answers", &["tests/it/quotes.rs::free_answers_do_not_tell_when_a_page_was_bought"]),
    (66, "a Host, an address or a transfer coding that proxies read in another way", &[
        "tests/it/http.rs::a_host_that_is_none_is_refused", "src/http/host.rs::hosts_are_read_by_their_grammar",
        "tests/it/http.rs::a_transfer_coding_that_is_not_read_is_not_implemented"]),
    (67, "a price asked for in one place and paid for in another", &[
        "tests/it/challenge.rs::two_levels_in_one_place_are_refused_before_anybody_signs",
        "tests/it/challenge.rs::a_challenge_for_a_request_that_disagrees_with_itself_says_so",
        "tests/it/quotes.rs::a_quote_is_of_what_was_meant"]),
    (68, "a kept answer claimed with a payload rebuilt from the chain", &[
        "tests/it/owed.rs::a_stranger_neither_gets_a_kept_answer_nor_uses_it_up"]),
    (69, "verified payments that are never settled, against a target that never answers", &[
        "tests/it/owed.rs::a_payer_holds_a_few_payments_and_leaves_little_behind"]),
    (70, "an honest buyer led to pay twice by a lost answer", &[
        "tests/it/owed.rs::a_new_signature_gets_what_an_earlier_payment_has_bought",
        "tests/it/owed.rs::a_second_signature_is_told_the_truth_and_stays_uncharged",
        "tests/it/owed.rs::a_signature_that_got_owed_goods_gets_the_same_bytes_again_and_is_never_charged",
        "tests/it/owed.rs::a_client_that_left_and_signs_anew_waits_for_its_first_sale",
        "tests/it/owed.rs::an_answer_that_breaks_off_is_owed",
        "src/tests/simulation.rs::no_history_loses_money_or_gives_goods_away"]),
];

/// The last of the numbers that the attacks are known by.
const LAST: u8 = 70;

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

/// What the service promises its buyers and operator, each with the tests that hold it to that: the table under Security
/// in `tests/README.md`, and what the README says under "Why trust it".
#[test]
fn every_promise_has_its_test() {
    let part = |file: &str, head: &str| {
        let text = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let text = std::fs::read_to_string(text).expect("is there");
        let (_, part) = text
            .split_once(&format!("\n## {head}\n"))
            .unwrap_or_else(|| panic!("{file} has no part {head}"));
        part.split("\n## ").next().unwrap_or_default().to_owned()
    };
    let security = part("tests/README.md", "Security");
    let rows: Vec<&str> = security
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .collect();
    assert!(rows.len() >= 20, "{} promises", rows.len());
    let trust = part("README.md", "Why trust it");
    let points: Vec<&str> = trust.split("\n- ").skip(1).collect();
    assert!(points.len() >= 6, "{} points", points.len());
    let mut wrong = Vec::new();
    for promise in rows.into_iter().chain(points) {
        let tests: Vec<&str> = promise
            .split(['`', ' ', '\n'])
            .filter(|piece| piece.contains(".rs::"))
            .collect();
        if tests.is_empty() {
            wrong.push(format!("no test: {promise}"));
        }
        wrong.extend(tests.into_iter().filter_map(missing));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
