//! Rate limit classes, and the state of a client's limit.

/// What a request costs us, from the table's row and from what it brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RateClass {
    /// Pages, documents, kept receipts: read from memory or by one look into the store.
    Free,
    /// A price asked for without buying, as directories do.
    Probe,
    /// A paid operation without a payment: answered with the price. Directories take a 429 for "sells nothing".
    Unpaid,
    /// A quote or preview: a name is looked up and a record kept, for nothing.
    Quote,
    /// Words left for the operator, or the way to a payment link: a record that stays.
    Lead,
    /// A payment that we know nothing of yet: it is verified and worked for before anything is earned.
    Sale,
    /// A retry credit, held ones and guesses.
    Credit,
    /// A try to sign in as the operator.
    Login,
    /// A delivery to be sent again: anyone who guesses would have mails sent to others.
    Recovery,
}

impl RateClass {
    pub const ALL: [RateClass; 9] = [
        RateClass::Free,
        RateClass::Probe,
        RateClass::Unpaid,
        RateClass::Quote,
        RateClass::Lead,
        RateClass::Sale,
        RateClass::Credit,
        RateClass::Login,
        RateClass::Recovery,
    ];

    pub fn name(self) -> &'static str {
        match self {
            RateClass::Free => "free",
            RateClass::Probe => "probe",
            RateClass::Unpaid => "unpaid",
            RateClass::Quote => "quote",
            RateClass::Lead => "lead",
            RateClass::Sale => "sale",
            RateClass::Credit => "credit",
            RateClass::Login => "login",
            RateClass::Recovery => "recovery",
        }
    }

    /// What is counted, for the operator.
    pub fn about(self) -> &'static str {
        match self {
            RateClass::Free => "pages and documents",
            RateClass::Probe => "prices asked for with GET or HEAD",
            RateClass::Unpaid => "paid operations without a payment",
            RateClass::Quote => "quotes and previews",
            RateClass::Lead => "requests to you, and ways to a payment link",
            RateClass::Sale => "new payments",
            RateClass::Credit => "retry credits",
            RateClass::Login => "sign-ins to the console",
            RateClass::Recovery => "lost deliveries asked for again",
        }
    }

    /// The class before the handler runs. A paid operation without payment, or a retry without credit, returns the price.
    /// With one, the flow counts it, because only the flow knows whether the payment is already on record: rate limits never
    /// block delivery of what may be paid.
    pub fn at_admission(self, brings_payment: bool) -> Option<RateClass> {
        match self {
            RateClass::Sale | RateClass::Credit if brings_payment => None,
            RateClass::Sale | RateClass::Credit => Some(RateClass::Unpaid),
            class => Some(class),
        }
    }
}

/// How many pages a day may be fetched for free; 0 fetches none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeQuota {
    pub all: u64,
    pub client: u64,
}

/// Where a client stands within a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The limit's name in headers and metrics: a class's, or [`OF_DOMAIN`].
    pub limit: &'static str,
    /// Requests in a window.
    pub quota: u64,
    pub remaining: u64,
    /// Until the next request when refused, else until all of the quota is there again.
    pub reset_seconds: u64,
}

/// The name of the limit on what is done for nothing with the pages of one domain.
pub const OF_DOMAIN: &str = "domain";
/// Seconds over which a quota is counted.
pub const WINDOW_SECONDS: u64 = 60;
