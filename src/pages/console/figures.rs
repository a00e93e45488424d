//! Figures of the console: large numbers, charts by day and funnels. The charts are drawn on the server, and each has its
//! table.

use maud::{Markup, html};

use crate::domain::time::UnixSeconds;
use crate::pages::console::Tone;
use crate::pages::parts;

/// A large number, with what it was before.
#[derive(Clone, Debug)]
pub struct Number {
    pub label: &'static str,
    pub value: String,
    pub unit: &'static str,
    pub note: String,
    /// Against an earlier period: `+12 %`.
    pub change: Option<(String, Tone)>,
}

/// A bar for each day, oldest first.
#[derive(Clone, Debug)]
pub struct Chart {
    pub title: &'static str,
    /// All days together.
    pub total: String,
    /// Day, value, and the value as it is read.
    pub days: Vec<(UnixSeconds, u64, String)>,
}

/// How many reach each step, from the first to the last.
#[derive(Clone, Debug)]
pub struct Funnel {
    pub title: String,
    pub steps: Vec<(&'static str, u64)>,
}

/// Width of a day and height of the drawing.
const DAY: usize = 10;
const HEIGHT: u64 = 80;

/// `+12 %` of what it was; nothing where it was zero.
pub fn change(now: u64, before: u64) -> Option<(String, Tone)> {
    if before == 0 {
        return None;
    }
    let percent = (i128::from(now) - i128::from(before)) * 100 / i128::from(before);
    let tone = match percent {
        0 => Tone::Plain,
        1.. => Tone::Good,
        _ => Tone::Bad,
    };
    Some((format!("{percent:+} %"), tone))
}

/// A share as a percentage, with one decimal below ten.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let tenths = u128::from(part) * 1000 / u128::from(whole);
    match tenths {
        1..100 => format!("{}.{} %", tenths / 10, tenths % 10),
        _ => format!("{} %", tenths / 10),
    }
}

pub(super) fn numbers(numbers: &[Number]) -> Markup {
    html! {
        dl.numbers { @for number in numbers { div {
            dt { (number.label) }
            dd {
                span.value { (number.value) @if !number.unit.is_empty() { " " small { (number.unit) } } }
                span.note-line {
                    (number.note)
                    @if let Some((text, tone)) = &number.change {
                        " " span class={ "change " (super::class(*tone)) } { (text) } " against the 7 days before"
                    }
                }
            }
        } } }
    }
}

pub(super) fn charts(charts: &[Chart]) -> Markup {
    html! { .charts { @for drawn in charts { (chart(drawn)) } } }
}

fn chart(chart: &Chart) -> Markup {
    let most = chart.days.iter().max_by_key(|(_, value, _)| *value);
    let (first, last) = (chart.days.first(), chart.days.last());
    let highest = most.filter(|(_, value, _)| *value > 0);
    let read = match highest {
        Some((day, _, shown)) => format!(
            "{} by day: {} in {} days, most on {} with {shown}",
            chart.title,
            chart.total,
            chart.days.len(),
            parts::date(*day)
        ),
        None => format!("{} by day: none in {} days", chart.title, chart.days.len()),
    };
    html! {
        figure.chart {
            figcaption { (chart.title) " " strong { (chart.total) } " " span.muted { "in " (chart.days.len()) " days" } }
            svg viewBox={ "0 0 " (chart.days.len() * DAY) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(read) {
                @for (index, (day, value, shown)) in chart.days.iter().enumerate() {
                    @let height = height(*value, highest.map_or(0, |(_, value, _)| *value));
                    rect class=[(*value == 0).then_some("none")] x=(index * DAY + 1) y=(HEIGHT - height) width=(DAY - 2) height=(height) {
                        title { (parts::date(*day)) ": " (shown) }
                    }
                }
            }
            p.axis aria-hidden="true" {
                @if let Some((day, ..)) = first { span { (parts::date(*day)) } }
                @if let Some((.., shown)) = highest { span { "highest " (shown) } }
                @if let Some((day, ..)) = last { span { (parts::date(*day)) } }
            }
            details { summary { "As a table" }
                table { thead { tr { th scope="col" { "Day (UTC)" } th.num scope="col" { (chart.title) } } }
                    tbody { @for (day, _, shown) in chart.days.iter().rev() {
                        tr { td { (parts::date(*day)) } td.num { (shown) } }
                    } } }
            }
        }
    }
}

/// A day without a sale is a line; the smallest sale is seen.
fn height(value: u64, most: u64) -> u64 {
    match (value, most) {
        (0, _) | (_, 0) => 1,
        _ => (u128::from(value) * u128::from(HEIGHT) / u128::from(most))
            .try_into()
            .unwrap_or(HEIGHT)
            .max(3),
    }
}

pub(super) fn funnels(funnels: &[Funnel]) -> Markup {
    html! { .funnels { @for funnel in funnels { (steps(funnel)) } } }
}

fn steps(funnel: &Funnel) -> Markup {
    let whole = funnel.steps.first().map_or(0, |(_, count)| *count);
    html! {
        figure.funnel {
            figcaption { (funnel.title) }
            table { tbody { @for (name, count) in &funnel.steps { tr {
                th scope="row" { (name) }
                td.num { (count) }
                td.num { (percent(*count, whole)) }
                td.bar { (bar(share(*count, whole), "")) }
            } } } }
        }
    }
}

/// A bar of so many percent, for eyes only: the figure stands beside it.
pub(super) fn bar(percent: u64, class: &str) -> Markup {
    html! {
        svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
            rect class=[(!class.is_empty()).then_some(class)] width=(percent.min(100)) height="8" {}
        }
    }
}

fn share(count: u64, whole: u64) -> u64 {
    match whole {
        0 => 0,
        whole => (u128::from(count) * 100 / u128::from(whole)).min(100) as u64,
    }
}

#[cfg(test)]
mod tests {
    use crate::pages::console::figures::*;

    #[test]
    fn figures_are_told_as_people_read_them() {
        for (now, before, expected) in [
            (112, 100, Some(("+12 %", Tone::Good))),
            (50, 100, Some(("-50 %", Tone::Bad))),
            (7, 7, Some(("+0 %", Tone::Plain))),
            (7, 0, None),
        ] {
            let expected = expected.map(|(text, tone)| (text.to_owned(), tone));
            assert_eq!(change(now, before), expected);
        }
        for (part, whole, expected) in [
            (0, 0, "–"),
            (0, 9, "0 %"),
            (1, 3, "33 %"),
            (3, 200, "1.5 %"),
            (5, 5, "100 %"),
            (u64::MAX, u64::MAX, "100 %"),
        ] {
            assert_eq!(percent(part, whole), expected);
        }
    }

    #[test]
    fn a_chart_draws_each_day_and_has_its_table() {
        let at = UnixSeconds(1_795_306_000);
        let day = |value: u64| (at, value, format!("{value} USDC"));
        let drawn = chart(&Chart {
            title: "Revenue",
            total: "30 USDC".to_owned(),
            days: vec![day(0), day(10), day(20)],
        });
        let drawn = drawn.into_string();
        for part in [
            r#"viewBox="0 0 30 80""#,
            r#"<rect class="none" x="1" y="79" width="8" height="1">"#,
            r#"<rect x="11" y="40" width="8" height="40">"#,
            "30 USDC in 3 days, most on 22 Nov with 20 USDC",
            "<td class=\"num\">20 USDC</td>",
        ] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
        assert_eq!(
            (height(1, u64::MAX), height(u64::MAX, u64::MAX)),
            (3, HEIGHT)
        );
    }
}
