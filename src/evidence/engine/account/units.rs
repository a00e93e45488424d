//! Units of measure, by their names and signs: what they measure and how much of its base unit they are.

use super::quantities::Kind;

/// What is measured. Quantities of one dimension can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dimension {
    Length,
    Area,
    Volume,
    Mass,
    Duration,
    Energy,
    Power,
    Data,
    DataRate,
    Temperature,
    Frequency,
    Voltage,
    Current,
    Pressure,
    Speed,
    Share,
    Points,
    Multiple,
    Money(&'static str),
}

/// A unit: its names in lower case, what it measures, how much of the base unit it is.
struct Unit(&'static str, Dimension, f64);

use Dimension::{
    Area, Current, Data, DataRate, Duration, Energy, Frequency, Length, Mass, Money, Multiple,
    Points, Power, Pressure, Share, Speed, Temperature, Voltage, Volume,
};

/// SI Brochure and NIST SP 811 for the factors; a month is 30.44 days and a year 365.25.
#[rustfmt::skip]
static UNITS: &[Unit] = &[
    Unit("mm|millimetre|millimeter", Length, 1e-3), Unit("cm|centimetre|centimeter", Length, 1e-2),
    Unit("m|metre|meter", Length, 1.0), Unit("km|kilometre|kilometer", Length, 1e3),
    Unit("mile|mi", Length, 1609.344), Unit("ft|foot|feet", Length, 0.3048), Unit("yard|yd", Length, 0.9144),
    Unit("inch|inches", Length, 0.0254), Unit("nm|nanometre|nanometer", Length, 1e-9),
    Unit("micrometre|micrometer|micron|µm", Length, 1e-6), Unit("light-year|light year", Length, 9.461e15),
    Unit("hectare|ha", Area, 1e4), Unit("acre", Area, 4046.86), Unit("square metre|square meter|sq m|m²|m2", Area, 1.0),
    Unit("square kilometre|square kilometer|sq km|km²|km2", Area, 1e6), Unit("square mile|sq mi", Area, 2.59e6),
    Unit("square foot|square feet|sq ft", Area, 0.0929),
    Unit("ml|millilitre|milliliter", Volume, 1e-3), Unit("cl|centilitre|centiliter", Volume, 1e-2),
    Unit("dl|decilitre|deciliter", Volume, 0.1), Unit("l|litre|liter", Volume, 1.0), Unit("gallon", Volume, 3.785),
    Unit("pint", Volume, 0.568), Unit("cubic metre|cubic meter|m³|m3", Volume, 1e3), Unit("hectolitre|hectoliter|hl", Volume, 100.0),
    Unit("tablespoon|tbsp", Volume, 0.015), Unit("teaspoon|tsp", Volume, 0.005),
    Unit("mg|milligram|milligramme", Mass, 1e-6), Unit("µg|microgram|mcg", Mass, 1e-9), Unit("g|gram|gramme", Mass, 1e-3),
    Unit("kg|kilogram|kilo|kilogramme", Mass, 1.0), Unit("tonne|ton|t", Mass, 1e3), Unit("lb|lbs", Mass, 0.4536),
    Unit("ounce|oz", Mass, 0.02835),
    Unit("ms|millisecond", Duration, 1e-3), Unit("s|sec|second", Duration, 1.0), Unit("min|minute", Duration, 60.0),
    Unit("h|hr|hour|heure|hora|stunde|stunden", Duration, 3600.0), Unit("day|jour|día|giorno|giorni|tage|tagen|dagen", Duration, 86400.0), Unit("night", Duration, 86400.0),
    Unit("week|semaine|semana|woche|wochen|settimana|settimane|weken", Duration, 604_800.0), Unit("fortnight", Duration, 1_209_600.0), Unit("month|mois|mes|meses|monat|monate|monaten|mese|mesi|maanden", Duration, 2_630_016.0),
    Unit("year|yr|año|jahr|jahre|jahren|anno|anni|jaar", Duration, 31_557_600.0), Unit("decade", Duration, 315_576_000.0), Unit("century|centuries", Duration, 3_155_760_000.0),
    Unit("wh|watt hour", Energy, 1.0), Unit("kwh|kilowatt hour", Energy, 1e3), Unit("mwh|megawatt hour", Energy, 1e6),
    Unit("gwh|gigawatt hour", Energy, 1e9), Unit("twh|terawatt hour", Energy, 1e12), Unit("kcal|kilocalorie|calorie", Energy, 1.163),
    Unit("kj|kilojoule", Energy, 0.2778), Unit("joule|j", Energy, 2.778e-4),
    Unit("milliwatt", Power, 1e-3), Unit("w|watt", Power, 1.0), Unit("kw|kilowatt", Power, 1e3), Unit("mw|megawatt", Power, 1e6), Unit("gw|gigawatt", Power, 1e9),
    Unit("hp|horsepower", Power, 745.7),
    Unit("byte", Data, 1.0), Unit("kb|kilobyte|kib|kibibyte", Data, 1024.0), Unit("mb|megabyte|mib|mebibyte", Data, 1_048_576.0),
    Unit("gb|gigabyte|gib|gibibyte", Data, 1_073_741_824.0), Unit("tb|terabyte|tib|tebibyte", Data, 1_099_511_627_776.0),
    Unit("pb|petabyte", Data, 1_125_899_906_842_624.0),
    Unit("kbit/s|kbps", DataRate, 1e3), Unit("mbit/s|mbps|megabit per second|megabits per second", DataRate, 1e6),
    Unit("gbit/s|gbps|gigabit per second|gigabits per second", DataRate, 1e9), Unit("mb/s", DataRate, 8e6), Unit("gb/s", DataRate, 8e9),
    Unit("°c|degree celsius|degrees celsius|degrees centigrade", Temperature, 1.0), Unit("degree|°", Temperature, 1.0),
    Unit("°f|degrees fahrenheit|degree fahrenheit", Temperature, FAHRENHEIT), Unit("kelvin", Temperature, KELVIN),
    Unit("hz|hertz", Frequency, 1.0), Unit("khz|kilohertz", Frequency, 1e3), Unit("mhz|megahertz", Frequency, 1e6),
    Unit("ghz|gigahertz", Frequency, 1e9), Unit("rpm", Frequency, 0.016_667),
    Unit("v|volt", Voltage, 1.0), Unit("kv|kilovolt", Voltage, 1e3), Unit("mv|millivolt", Voltage, 1e-3),
    Unit("amp|ampere", Current, 1.0), Unit("ma|milliampere|milliamp", Current, 1e-3), Unit("mah", Current, 3.6),
    Unit("bar", Pressure, 1e5), Unit("psi", Pressure, 6894.8), Unit("hpa|hectopascal|millibar", Pressure, 100.0), Unit("kpa", Pressure, 1e3),
    Unit("km/h|kph|kilometres per hour|kilometers per hour|kilometres an hour|kilometers an hour", Speed, 0.277_78),
    Unit("mph|miles per hour|miles an hour", Speed, 0.447_04), Unit("m/s|metres per second|meters per second", Speed, 1.0), Unit("knot", Speed, 0.514_44),
    Unit("%|percent|per cent|pc", Share, 0.01), Unit("percentage point", Points, 1.0), Unit("basis point", Points, 0.01),
    Unit("times|fold", Multiple, 1.0),
    Unit("€|euro|eur", Money("EUR"), 1.0), Unit("$|dollar|usd|us$", Money("USD"), 1.0), Unit("£|gbp|pound sterling|pounds sterling|pound", Money("GBP"), 1.0),
    Unit("¥|yen|jpy", Money("JPY"), 1.0), Unit("chf|franc|swiss franc", Money("CHF"), 1.0), Unit("nok", Money("NOK"), 1.0), Unit("sek|krona|kronor", Money("SEK"), 1.0),
    Unit("dkk", Money("DKK"), 1.0), Unit("krone|kroner", Money("NOK"), 1.0), Unit("₹|rupee|inr", Money("INR"), 1.0), Unit("usdc", Money("USDC"), 1.0),
    Unit("zloty|złoty|pln", Money("PLN"), 1.0), Unit("cent", Money("cent"), 1.0), Unit("penny|pence", Money("pence"), 1.0), Unit("eth", Money("ETH"), 1.0), Unit("btc|bitcoin", Money("BTC"), 1.0),
    Unit("yuan|rmb|cny", Money("CNY"), 1.0), Unit("won|krw", Money("KRW"), 1.0), Unit("₽|rouble|ruble", Money("RUB"), 1.0), Unit("lira|try", Money("TRY"), 1.0),
    Unit("hk$|hkd|hong kong dollar", Money("HKD"), 1.0), Unit("nz$|nzd|new zealand dollar", Money("NZD"), 1.0), Unit("s$|sgd|singapore dollar", Money("SGD"), 1.0), Unit("mx$|mxn|mexican peso", Money("MXN"), 1.0),
    Unit("nt$|twd|taiwan dollar", Money("TWD"), 1.0), Unit("c$|ca$|cad|canadian dollar", Money("CAD"), 1.0), Unit("a$|au$|aud|australian dollar", Money("AUD"), 1.0), Unit("r$|real|reais|brl", Money("BRL"), 1.0), Unit("peso", Money("peso"), 1.0),
];

/// Units whose signs differ from others' by a capital alone.
static BY_CASE: [(&str, Dimension, f64); 5] = [
    ("mW", Power, 1e-3),
    ("MV", Voltage, 1e6),
    ("Mb/s", DataRate, 1e6),
    ("Gb/s", DataRate, 1e9),
    ("kb/s", DataRate, 1e3),
];

/// The unit of a sign as it is written, where its case tells it from another.
pub(crate) fn unit_by_case(sign: &str) -> Option<(Dimension, f64)> {
    let found = BY_CASE.iter().find(|unit| unit.0 == sign)?;
    Some((found.1, found.2))
}

/// What the base unit reads at the zero of a unit: 0 °F are −17.8 °C.
pub(crate) fn offset(kind: &Kind, factor: f64) -> f64 {
    match kind {
        Kind::Measured(Temperature) if (factor - FAHRENHEIT).abs() < 1e-9 => -32.0 * FAHRENHEIT,
        Kind::Measured(Temperature) if (factor - KELVIN).abs() < 1e-9 => -273.15,
        _ => 0.0,
    }
}

/// A degree of each in degrees Celsius; that of a kelvin is one, and this tells it apart.
const FAHRENHEIT: f64 = 5.0 / 9.0;
const KELVIN: f64 = 1.0001;

/// Single letters are units only right behind a number.
fn is_named(names: &str, name: &str) -> bool {
    names.split('|').any(|known| known == name)
}

/// The unit of a name in lower case: the singular, the plural, or a sign.
pub(crate) fn unit(name: &str) -> Option<(Dimension, f64)> {
    let singular = name.strip_suffix('s').filter(|rest| rest.len() > 2);
    let of = |name: &str| UNITS.iter().find(|unit| is_named(unit.0, name));
    let found = of(name).or_else(|| singular.and_then(of))?;
    Some((found.1, found.2))
}

/// What something is counted per: "a week", "per kilowatt hour", "/month".
pub(crate) fn period(name: &str) -> Option<&'static str> {
    const PERIODS: &[(&str, &str)] = &[
        ("second", "second"),
        ("minute", "minute"),
        ("hour", "hour"),
        ("day", "day"),
        ("daily", "day"),
        ("night", "night"),
        ("week", "week"),
        ("weekly", "week"),
        ("month", "month"),
        ("monthly", "month"),
        ("mo", "month"),
        ("quarter", "quarter"),
        ("quarterly", "quarter"),
        ("year", "year"),
        ("yearly", "year"),
        ("annum", "year"),
        ("annually", "year"),
        ("annual", "year"),
        ("person", "person"),
        ("head", "person"),
        ("user", "user"),
        ("seat", "seat"),
        ("kilometre", "kilometre"),
        ("km", "kilometre"),
        ("kilo", "kilogram"),
        ("kilogram", "kilogram"),
        ("kg", "kilogram"),
        ("litre", "litre"),
        ("kwh", "kilowatt hour"),
        ("share", "share"),
        ("child", "child"),
        ("adult", "adult"),
        ("family", "family"),
        ("household", "household"),
        ("team", "team"),
        ("device", "device"),
        ("hectare", "hectare"),
        ("game", "game"),
        ("match", "match"),
        ("visit", "visit"),
        ("request", "request"),
        ("page", "page"),
    ];
    PERIODS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, period)| *period)
}
