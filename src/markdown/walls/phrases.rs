//! What walls say, by kind and language, in lower case with plain apostrophes, spaces and without invisible
//! characters: the form in which pages are compared with them.

/// Beginnings of titles that only a check for robots has.
#[rustfmt::skip]
pub(super) const CAPTCHA_TITLES: &[&str] = &[
    "just a moment...", "just a moment…", "attention required! | cloudflare", "please wait... | cloudflare",
    "verify you are human", "verify you're human", "verify that you are human",
    "access to this page has been denied", "pardon our interruption", "百度安全验证",
];

/// Titles that a check for robots may have, and other pages too.
#[rustfmt::skip]
pub(super) const CAPTCHA_TITLES_SHARED: &[&str] = &[
    "are you a robot", "are you human", "are you not a robot", "robot or human", "bot or not",
    "checking your browser", "verifying your browser", "ddos-guard", "client challenge",
    "javascript and cookies required", "nur einen moment", "einen moment, bitte", "un instant", "un momento",
    "um momento", "ci siamo quasi", "один момент", "вы не робот", "ой, капча", "しばらくお待ちください", "请稍候",
    "잠시만 기다리십시오", "even geduld", "bot check", "bot verification", "browser check", "captcha",
    "human verification", "humans only", "recaptcha", "robot check", "security check", "security challenge",
    "security verification", "verification", "vérification de sécurité", "sicherheitsprüfung",
    "sicherheitsabfrage", "verificación de seguridad", "人机验证", "安全验证", "滑动验证", "訪問驗證", "访问验证", "验证码", "認証",
];

#[rustfmt::skip]
pub(super) const CAPTCHA_TEXTS: &[&str] = &[
    "checking your browser before accessing", "checking your browser",
    "checking if the site connection is secure", "verify you are human by completing the action below",
    "verify you are human", "verifying you are human", "verify that you are human", "verify that you're human",
    "verify you're human", "verify you are not a robot", "verify you're not a robot",
    "verify that you are not a robot", "verify that you're not a robot", "verify that you are not a bot",
    "verifies that you are not a bot", "confirm you are human", "confirm you're human",
    "confirm that you are human", "confirm that you're human", "confirm you are a human",
    "confirm that you are a human", "confirm you are not a robot", "prove you are human", "prove you're human",
    "prove that you are human", "let us know you're not a robot", "let us know that you are not a robot",
    "make sure you're not a robot", "make sure you are not a robot", "make sure you're a human",
    "are you a robot?", "are you a human?", "i'm not a robot", "i am not a robot", "i am human",
    "enable javascript and cookies to continue", "enable js and disable any ad blocker",
    "please turn javascript on and reload the page", "press & hold to confirm", "press and hold to confirm",
    "press & hold", "our systems have detected unusual traffic from your computer network",
    "detected unusual traffic", "detected unusual activity from your computer network",
    "detected unusual activity",
    "this page checks to see if it's really you sending the requests, and not a robot",
    "complete the security check to access", "complete the security check", "complete the captcha",
    "solve the captcha", "solve this captcha", "solve the puzzle below",
    "needs to review the security of your connection before proceeding", "performing security verification",
    "this website uses a security service to protect against malicious bots", "verifies you are not a bot",
    "this process is automatic. your browser will redirect",
    "your browser will redirect to your requested content shortly", "made us think you were a bot",
    "made us think that you are a bot", "we believe you are using automation tools to browse the website",
    "enter the characters you see below", "type the characters you see in this image",
    "type the characters you see in the image", "click the button below to continue shopping",
    "bestätigen sie, dass sie ein mensch sind", "bestätigen sie, dass sie kein roboter sind",
    "überprüfung, ob sie ein mensch sind", "ich bin kein roboter",
    "muss die sicherheit ihrer verbindung überprüfen", "ungewöhnlichen datenverkehr",
    "vérifiez que vous êtes humain", "vérifier que vous êtes humain", "confirmez que vous êtes humain",
    "vérifier que vous n'êtes pas un robot", "je ne suis pas un robot",
    "doit vérifier la sécurité de votre connexion", "verifique que es un ser humano",
    "verifica que eres humano", "confirma que eres humano", "no soy un robot",
    "necesita revisar la seguridad de su conexión", "verifica di essere umano",
    "verifica di essere un essere umano", "non sono un robot", "deve verificare la sicurezza della connessione",
    "confirme que você é humano", "verifique se você é humano", "não sou um robô",
    "precisa verificar a segurança da sua conexão", "precisa analisar a segurança da sua conexão",
    "bevestig dat u een mens bent", "controleer of u een mens bent", "ik ben geen robot",
    "potwierdź, że jesteś człowiekiem", "nie jestem robotem", "подтвердите, что вы человек",
    "подтвердите, что запросы отправляли вы, а не робот", "запросы с вашего устройства похожи на автоматические", "почему это могло произойти",
    "я не робот",
    "необходимо проверить безопасность вашего подключения", "请完成以下操作，验证您是真人", "请完成安全验证", "请完成验证", "请输入验证码",
    "请按住滑块", "拖动滑块", "拖动下方滑块", "确认您是真人", "您的访问过于频繁", "人間であることを確認", "私はロボットではありません", "ロボットではないことを確認", "사람인지 확인",
    "로봇이 아닙니다",
];

/// Found in the scripts of challenge pages only.
#[rustfmt::skip]
pub(super) const CHALLENGE_SCRIPTS: &[&str] = &[
    "_cf_chl_opt", "captcha-delivery.com", "px-captcha", "_pxappid", "/.well-known/sgcaptcha",
    "_incapsula_resource?swudnsai", "/_sec/cp_challenge", "captcha.awswaf.com", "challenge.awswaf.com",
];

/// Beginnings of titles that only a refusal has.
#[rustfmt::skip]
pub(super) const BLOCK_TITLES: &[&str] = &[
    "sorry, you have been blocked", "you have been blocked", "you've been blocked", "you are being blocked",
    "error: the request could not be satisfied", "the request could not be satisfied", "request rejected",
    "request unsuccessful", "sucuri website firewall", "web page blocked",
    "your access to this site has been limited", "access denied | ", "access denied - sucuri",
    "whoa there, pardner",
];

/// Titles that a refusal may have, and other pages too.
#[rustfmt::skip]
pub(super) const BLOCK_TITLES_SHARED: &[&str] = &[
    "403", "403 error", "403 forbidden", "403 - forbidden", "403 - forbidden: access is denied", "error 403",
    "error 1020", "access denied", "access forbidden", "access is denied", "access restricted", "blocked",
    "forbidden", "not authorized", "permission denied", "unauthorized", "unavailable for legal reasons",
    "zugriff verweigert", "zugriff gesperrt", "accès refusé", "accès interdit", "acceso denegado",
    "accesso negato", "acesso negado", "toegang geweigerd", "dostęp zabroniony", "доступ запрещен",
    "доступ запрещён", "доступ ограничен", "访问被拒绝", "アクセスが拒否されました",
];

#[rustfmt::skip]
pub(super) const BLOCK_TEXTS: &[&str] = &[
    "sorry, you have been blocked", "you have been blocked", "you've been blocked by network security",
    "you are unable to access", "you don't have permission to access", "you do not have permission to access",
    "you do not have access to", "has banned your ip address", "has banned your access",
    "has banned you temporarily", "has banned the country or region", "your ip address has been blocked",
    "your ip has been blocked", "your request has been blocked", "your request was blocked", "request blocked",
    "this request was blocked",
    "this website is using a security service to protect itself from online attacks",
    "the action you just performed triggered the security solution", "incapsula incident id",
    "the requested url was rejected", "your access to this site has been limited by the site owner",
    "your access to this service has been limited", "access to this resource on the server is denied",
    "access to this site has been denied", "access to this page is forbidden", "access denied",
    "is not available in your country", "is not available in your region", "is not available in your location",
    "is unavailable in your country", "is unavailable in your region",
    "not available to visitors from your region", "access cannot be granted at this time",
    "belonging to the european economic area", "unavailable for legal reasons",
    "the request could not be satisfied", "your client does not have permission to get url",
    "your request has been identified as automated", "ihr zugriff wurde gesperrt",
    "ihre ip-adresse wurde gesperrt", "sie haben keine berechtigung, auf diese seite zuzugreifen",
    "zugriff verweigert", "vous n'avez pas la permission d'accéder", "vous n'êtes pas autorisé à accéder",
    "votre accès a été bloqué", "accès refusé", "no tiene permiso para acceder", "su acceso ha sido bloqueado",
    "acceso denegado", "non hai il permesso di accedere", "non disponi dell'autorizzazione", "accesso negato",
    "você não tem permissão para acessar", "acesso negado", "доступ к ресурсу заблокирован", "доступ запрещен",
    "доступ запрещён", "您的访问已被拦截", "您的请求已被拦截", "您没有权限访问", "アクセスが拒否されました", "アクセス権限がありません",
];

/// What a page is called whose content is a login: alone, before `to`, `in`, `at`, `with` and its kin and a name, or
/// behind a name.
#[rustfmt::skip]
pub(super) const LOGIN_TITLES: &[&str] = &[
    "log in", "login", "log on", "logon", "log in or sign up", "log in or register", "sign in", "sign-in",
    "signin", "sign in or sign up", "sign in or register", "sign in or create an account", "please log in",
    "please login", "please sign in", "login required", "login page", "login to continue", "member login",
    "members login", "user login", "customer login", "account login", "authentication required",
    "log in to continue", "log in to your account", "sign in to continue", "sign in to your account",
    "join or sign in", "anmelden", "anmeldung", "einloggen", "bitte anmelden", "kundenlogin", "connexion",
    "se connecter", "connectez-vous", "identification", "identifiez-vous", "iniciar sesión", "inicia sesión",
    "inicio de sesión", "acceder", "accedi", "accesso", "entrar", "iniciar sessão", "fazer login", "inloggen",
    "aanmelden", "logga in", "log ind", "logg inn", "kirjaudu sisään", "zaloguj się", "logowanie", "přihlášení",
    "přihlásit se", "bejelentkezés", "autentificare", "войти", "вход", "авторизация", "увійти", "giriş yap",
    "oturum aç", "تسجيل الدخول", "登录", "登入", "用户登录", "会员登录", "ログイン", "サインイン", "로그인",
];

/// What stands between such a title and the name of a site.
#[rustfmt::skip]
pub(super) const LOGIN_LINKS: &[&str] = &[
    " to ", " in ", " at ", " with ", " on ", " bei ", " à ", " sur ", " en ", " a ", " su ", " bij ", " på ",
    " do ", " w ", " в ", " на ", " for ",
];

#[rustfmt::skip]
pub(super) const LOGIN_TEXTS: &[&str] = &[
    "you must be logged in to access", "you must be logged in to continue", "you must be logged in to do that",
    "you must be logged in to see", "you must be logged in to view", "you must be logged-in to do that",
    "you must be a registered user to", "you must log in to access", "you must log in to continue",
    "you must log in to see", "you must log in to view", "you must log in", "you must sign in to access",
    "you must sign in to continue", "you must sign in to view", "you need to be logged in to access",
    "you need to be logged in to continue", "you need to be logged in to see",
    "you need to be logged in to view", "you need to log in to access", "you need to log in to continue",
    "you need to log in to see", "you need to log in to view", "you need to login in order to view",
    "you need to sign in or sign up before continuing", "you need to sign in to",
    "you are not logged in or you do not have permission to access this page", "you are not logged in",
    "the board requires you to be registered and logged in to view", "requires you to be logged in",
    "this content is only available to registered users", "this content is available to registered users only",
    "this page is for members only", "this page is only available to members", "please log in to access",
    "please log in to continue", "please log in to see", "please log in to view", "please login to access",
    "please login to continue", "please login to view", "please sign in to access",
    "please sign in to continue", "please sign in to view", "please log in", "please sign in",
    "log in to continue", "log in to see", "log in to view", "log in or sign up to view",
    "log in or sign up to see", "login to continue", "login to view", "sign in to continue", "sign in to see",
    "sign in to view", "sign up to view", "sign up to see", "sign in or join to view", "join now to see",
    "melden sie sich an, um", "melde dich an, um", "loggen sie sich ein, um", "bitte melden sie sich an",
    "bitte melde dich an", "bitte loggen sie sich ein", "sie müssen angemeldet sein",
    "du musst angemeldet sein", "sie müssen sich anmelden", "connectez-vous pour", "veuillez vous connecter",
    "vous devez être connecté pour accéder", "vous devez être connecté pour voir", "vous devez vous connecter",
    "inicia sesión para", "inicie sesión para", "debes iniciar sesión", "debe iniciar sesión", "accedi per",
    "effettua il login per", "devi effettuare l'accesso", "faça login para", "inicie sessão para",
    "você precisa estar logado", "log in om", "u moet ingelogd zijn", "je moet ingelogd zijn",
    "zaloguj się, aby", "musisz się zalogować", "войдите, чтобы", "необходимо войти",
    "необходимо авторизоваться", "请登录后", "请先登录", "登录后查看", "您需要登录", "您需要登錄", "ログインしてください", "ログインが必要です",
    "로그인이 필요합니다", "로그인 후 이용",
];

#[rustfmt::skip]
pub(super) const PAYWALL_TEXTS: &[&str] = &[
    "subscribe to continue reading", "subscribe to keep reading", "subscribe to read the full",
    "subscribe to read this article", "subscribe to read this", "subscribe to read more",
    "subscribe now to read", "subscribe to unlock", "to continue reading this article",
    "to read the rest of this article", "this article is for subscribers", "this article is for members only",
    "this content is for subscribers", "this content is for members only",
    "this content is for paying members only", "this article is exclusive to subscribers",
    "this story is for subscribers", "this post is for paid subscribers", "this post is for paying subscribers",
    "this post is for subscribers", "available to subscribers only", "available to members only",
    "for subscribers only", "for paying subscribers only", "unlock this article",
    "you have reached your limit of free articles", "you've reached your limit of free articles",
    "you've reached your article limit", "you have reached your article limit", "diesen artikel weiterlesen",
    "um diesen artikel zu lesen", "weiterlesen mit", "dieser artikel ist nur für abonnenten",
    "nur für abonnenten", "réservé aux abonnés", "réservée aux abonnés", "de cet article à lire",
    "abonnez-vous pour lire", "exclusivo para suscriptores", "solo para suscriptores",
    "suscríbete para seguir leyendo", "para seguir leyendo", "riservato agli abbonati",
    "abbonati per continuare a leggere", "exclusivo para assinantes", "assine para continuar lendo",
    "alleen voor abonnees", "tylko dla subskrybentów", "только для подписчиков", "会員限定記事", "有料会員限定",
    "この記事は有料会員", "订阅后阅读全文",
];

/// What only a page says that asks for consent before it shows anything.
#[rustfmt::skip]
pub(super) const CONSENT_TITLES: &[&str] = &[
    "before you continue to google", "before you continue to youtube", "before you continue",
    "bevor sie zu google weitergehen", "bevor sie zu youtube weitergehen", "bevor sie fortfahren",
    "avant d'accéder à google", "avant d'accéder à youtube", "avant de continuer", "antes de ir a google",
    "antes de ir a youtube", "antes de continuar", "prima di continuare su google",
    "prima di continuare su youtube", "prima di continuare", "voordat je verdergaat naar google",
    "voordat je verdergaat naar youtube", "zanim przejdziesz do google", "zanim przejdziesz do youtube",
    "innan du fortsätter till google", "innan du fortsätter till youtube", "google に進む前に", "在继续使用 google",
];

/// How a site asks for consent, in the first person.
#[rustfmt::skip]
pub(super) const CONSENT_TEXTS: &[&str] = &[
    "we value your privacy", "we care about your privacy", "your privacy is important to us",
    "we and our partners", "store and/or access information on a device",
    "store or access information on a device", "we use cookies and data to",
    "we use cookies and similar technologies", "we use cookies", "this site uses cookies",
    "this website uses cookies", "this site uses third-party website tracking technologies",
    "part of the yahoo family of brands", "with your agreement, we and", "with your consent, we and",
    "i agree and may revoke or change my consent at any time", "wir und unsere partner",
    "wir schätzen ihre privatsphäre", "wir respektieren ihre privatsphäre", "ihre privatsphäre ist uns wichtig",
    "mit werbung lesen", "mit werbung weiterlesen", "weiterlesen mit werbung", "nutzung mit werbung",
    "mit werbung und tracking", "mit werbung und üblichem tracking", "wie gewohnt mit werbung",
    "wir verwenden cookies", "wir nutzen cookies", "diese website verwendet cookies",
    "teil der yahoo markenfamilie", "nous et nos partenaires", "avec nos partenaires",
    "avec votre accord, nos partenaires", "avec votre accord, nous et", "votre vie privée nous importe",
    "nous respectons votre vie privée", "nous utilisons des cookies", "ce site utilise des cookies",
    "nosotros y nuestros socios", "nosotros y nuestros partners", "valoramos su privacidad",
    "valoramos tu privacidad", "utilizamos cookies", "usamos cookies", "este sitio utiliza cookies",
    "noi e i nostri partner", "noi e terze parti", "la tua privacy è importante", "rispettiamo la tua privacy",
    "utilizziamo i cookie", "questo sito utilizza i cookie", "nós e os nossos parceiros",
    "nós e nossos parceiros", "valorizamos a sua privacidade", "wij en onze partners", "wij gebruiken cookies",
    "we gebruiken cookies", "my i nasi partnerzy", "cenimy twoją prywatność", "używamy plików cookie",
];

/// What can be chosen where consent is asked for: labels of buttons, or lines of their own.
#[rustfmt::skip]
pub(super) const CONSENT_CHOICES: &[&str] = &[
    "accept", "accept all", "accept all cookies", "accept and close", "accept & close", "accept and continue",
    "accept & continue", "accept cookies", "agree", "agree and close", "agree & close", "agree and continue",
    "agree & continue", "allow all", "allow all cookies", "i accept", "i agree", "ok", "got it", "yes, i agree",
    "consent", "reject", "reject all", "reject all cookies", "decline", "decline all", "deny", "deny all",
    "disagree", "do not consent", "continue without accepting", "continue without agreeing",
    "necessary cookies only", "use necessary cookies only", "only necessary", "more options", "manage options",
    "manage preferences", "manage settings", "manage privacy settings", "manage consent preferences",
    "manage cookies", "cookie settings", "privacy settings", "customise", "customize", "learn more",
    "show purposes", "save settings", "confirm my choices", "akzeptieren", "alle akzeptieren",
    "alles akzeptieren", "alle cookies akzeptieren", "akzeptieren und weiter", "akzeptieren und schließen",
    "zustimmen", "zustimmen und weiter", "zustimmen & weiter", "ich stimme zu", "einverstanden",
    "alle ablehnen", "ablehnen", "weitere optionen", "einstellungen", "einstellungen verwalten",
    "cookie-einstellungen", "datenschutz-einstellungen", "jetzt abonnieren", "pur-abo abschließen",
    "nur notwendige cookies", "accepter", "tout accepter", "accepter et fermer", "accepter & fermer",
    "accepter et continuer", "j'accepte", "tout refuser", "refuser", "continuer sans accepter", "s'abonner",
    "paramétrer", "paramétrer les cookies", "gérer mes choix", "personnaliser", "plus d'options",
    "en savoir plus", "aceptar", "aceptar todo", "aceptar todas", "aceptar y cerrar", "aceptar y continuar",
    "acepto", "rechazar", "rechazar todo", "rechazar todas", "continuar sin aceptar", "más opciones",
    "configurar", "gestionar opciones", "suscribirse", "accetta", "accetta tutto", "accetta tutti",
    "accetta e chiudi", "accetta e continua", "accetto", "rifiuta", "rifiuta tutto", "continua senza accettare",
    "altre opzioni", "gestisci opzioni", "personalizza", "abbonati", "aceitar", "aceitar tudo", "aceitar todos",
    "aceitar e fechar", "concordo", "rejeitar", "rejeitar tudo", "mais opções", "accepteren",
    "alles accepteren", "akkoord", "alles afwijzen", "alles weigeren", "weigeren", "meer opties",
    "instellingen", "zaakceptuj wszystko", "akceptuję", "zgadzam się", "przejdź do serwisu", "odrzuć wszystko",
    "odrzuć", "więcej opcji", "ustawienia zaawansowane",
];

/// A sentence with one of these may belong to a request for consent.
#[rustfmt::skip]
pub(super) const CONSENT_WORDS: &[&str] = &[
    "cookie", "consent", "partner", "privacy", "personal data", "personali", "advert", " ads", "ads ",
    "tracking", "geolocation", "device", "accept", "reject", "agree", "withdraw", "preferences",
    "legitimate interest", "vendor", "third part", "einwillig", "zustimm", "datenschutz", "personenbezogen",
    "werbung", "widerruf", "akzeptier", "ablehn", "abonn", "abo ", "datenverarbeitung", "einstellungen",
    "privatsphäre", "traceur", "consentement", "partenaire", "données", "publicit", "refus", "confidentialité",
    "vie privée", "consentimiento", "socios", "datos", "anuncios", "aceptar", "rechazar", "privacidad",
    "suscri", "consenso", "dati ", "pubblicit", "annunci", "accett", "rifiut", "consentimento", "parceiros",
    "dados", "anúncios", "aceitar", "rejeitar", "toestemming", "gegevens", "advertenties", "weiger", "zgod",
    "dane ", "danych", "reklam", "akcept", "odrzu", "prywatno", "ciastecz",
];

/// A page with one of these in its title is about consent and data, and not a request.
#[rustfmt::skip]
pub(super) const POLICY_TITLES: &[&str] = &[
    "policy", "policies", "statement", "notice", "declaration", "terms", "imprint", "impressum", "richtlinie",
    "erklärung", "hinweise", "bestimmungen", "politique", "déclaration", "mentions légales", "charte",
    "política", "aviso", "declaración", "politica", "informativa", "declaração", "beleid", "verklaring",
    "polityka", "guide", "how to", "what is", "faq", "help", "docs", "documentation", "api", "reference",
    "gdpr", "dsgvo", "rgpd",
];

#[rustfmt::skip]
pub(super) const SCRIPT_TEXTS: &[&str] = &[
    "you need to enable javascript to run this app", "you need to enable javascript",
    "please enable javascript to continue", "please enable javascript to view",
    "please enable javascript to use", "please enable javascript", "please turn on javascript",
    "javascript is not enabled", "javascript is disabled", "javascript is not available",
    "javascript is required", "this app requires javascript", "this application requires javascript",
    "this page requires javascript", "this site requires javascript", "this website requires javascript",
    "requires javascript to be enabled", "requires javascript", "javascript must be enabled",
    "doesn't work properly without javascript enabled", "doesn't work without javascript",
    "without javascript enabled. please enable it to continue", "your browser does not support javascript",
    "bitte aktivieren sie javascript", "bitte javascript aktivieren", "javascript ist deaktiviert",
    "veuillez activer javascript", "vous devez activer javascript", "javascript est désactivé",
    "habilite javascript", "active javascript", "debe habilitar javascript",
    "es necesario habilitar javascript", "abilita javascript", "è necessario abilitare javascript",
    "ative o javascript", "habilite o javascript", "schakel javascript in", "włącz javascript",
    "включите javascript", "请启用javascript", "请启用 javascript", "请开启javascript", "javascriptを有効",
    "javascript를 활성화",
];

/// What stands around a wall and says nothing of the page: the rest of a challenge, of a login form or of a refusal.
#[rustfmt::skip]
pub(super) const AROUND: &[&str] = &[
    "why do i have to complete a captcha",
    "completing the captcha proves you are a human and gives you temporary access to the web property",
    "what can i do to prevent this in the future",
    "if you are on a personal connection, like at home, you can run an anti-virus scan on your device to make sure it is not infected with malware",
    "if you are at an office or shared network, you can ask the network administrator to run a scan across the network looking for misconfigured or infected devices",
    "this may take a few seconds", "verification successful", "waiting for",
    "please stand by, while we are checking your browser", "please wait while we", "please wait a few seconds",
    "please wait", "please allow up to 5 seconds", "once this page loads", "ray id",
    "performance & security by cloudflare", "performance and security by cloudflare", "ddos protection by",
    "protected by", "reference id", "reference #", "block reference", "incident id", "support id", "event id",
    "request id", "block id", "block reason", "block details", "server id", "your ip", "your browser",
    "please whitelist your ip or if you think this block is an error", "open a support ticket", "click to reveal", "user agent", "user-agent",
    "why have i been blocked", "why did this happen", "why am i seeing this", "what happened",
    "what can i do to resolve this",
    "there are several actions that could trigger this block including submitting a certain word or phrase, a sql command or malformed data",
    "you can email the site owner to let them know you were blocked",
    "please include what you were doing when this page came up", "there are a few reasons this might happen",
    "this may happen as a result of the following", "there might be too much traffic or a configuration error",
    "contact the app or website owner", "we can't connect to the server for this app or website at this time",
    "you can find steps to troubleshoot", "if you provide content to customers through cloudfront",
    "generated by cloudfront", "you're a power user moving through this website with super-human speed",
    "you've disabled cookies in your web browser", "you've disabled javascript in your web browser",
    "is preventing javascript from running", "additional information is available in this support article",
    "to regain access, please make sure that cookies and javascript are enabled",
    "javascript is disabled or blocked by an extension", "your browser does not support cookies",
    "make sure your browser supports javascript and cookies",
    "make sure that javascript and cookies are enabled", "please make sure your browser is accepting cookies",
    "you are not blocking them from loading",
    "for more information you can review our terms of service and cookie policy",
    "for inquiries related to this message please contact our support team", "contact our support team",
    "for best results", "try different image", "continue shopping", "conditions of use", "in order to continue",
    "and then reload the page", "reload the page", "if you are the site owner", "please whitelist your ip",
    "if you think this block is an error", "if you think you have been blocked in error",
    "if you think you've been blocked by mistake", "if you believe this is an error",
    "if you believe you have been blocked", "block details", "block technical data", "block reason",
    "please consult with your administrator", "contact the site owner", "contact the owner of this site",
    "contact the website owner", "contact the administrator", "contact customer support", "go back",
    "on this server", "errors.edgesuite.net", "which enforces the general data protection regulation",
    "this page appears when google automatically detects requests",
    "which appear to be in violation of the terms of service", "this could be due to one of several reasons",
    "fill in the form at the bottom of this page and try again",
    "you may not have sufficient privileges to access this page",
    "if you are trying to post, the administrator may have disabled your account", "solving the above captcha",
    "enter your email", "enter your password", "enter your username", "email address", "e-mail address",
    "email or phone", "phone, email", "mobile number", "phone number", "forgot your password",
    "forgot password", "forgot username", "forgotten password", "forgotten account", "reset your password",
    "reset password", "lost your password", "lost password", "trouble logging in", "trouble signing in",
    "can't access your account", "need an account", "need help signing in", "create an account",
    "create account", "create new account", "create a new account", "create one", "don't have an account",
    "do not have an account", "already have an account", "already a member", "already a subscriber",
    "already registered", "not a member yet", "not a member", "not registered yet", "new to", "new customer",
    "new user", "sign up for", "sign up", "register now", "register here", "remember me", "remember my",
    "keep me logged in", "keep me signed in", "stay signed in", "stay logged in", "remember this device",
    "show password", "continue with google", "continue with apple", "continue with facebook",
    "continue with microsoft", "continue with github", "continue with email", "continue with", "sign in with",
    "log in with", "login with", "sign up with", "use a private browsing window", "not your computer",
    "use another account", "welcome back", "use your account", "by continuing, you agree",
    "by clicking continue", "by clicking", "by signing in", "by signing up", "by logging in", "you agree to",
    "terms of service", "terms of use", "terms and conditions", "terms & conditions", "privacy policy",
    "cookie policy", "user agreement", "privacy notice", "all rights reserved", "back to home",
    "return to home", "go to homepage", "to access your account", "passwort vergessen", "angemeldet bleiben",
    "noch kein konto", "neu hier", "jetzt registrieren", "konto erstellen", "benutzername", "e-mail-adresse",
    "mot de passe oublié", "mot de passe", "adresse e-mail", "se souvenir de moi", "rester connecté",
    "créer un compte", "pas encore de compte", "¿olvidaste tu contraseña", "olvidó su contraseña",
    "has olvidado tu contraseña", "contraseña", "correo electrónico", "crear una cuenta", "crear cuenta",
    "¿no tienes cuenta", "recuérdame", "password dimenticata", "ricordami", "crea un account",
    "non hai un account", "esqueceu a senha", "esqueceu sua senha", "lembrar-me", "criar conta",
    "wachtwoord vergeten", "account aanmaken", "nie pamiętasz hasła", "zapamiętaj mnie", "zarejestruj się",
    "забыли пароль", "запомнить меня", "зарегистрироваться", "忘记密码", "记住我", "立即注册", "注册账号", "没有账号", "パスワードを忘れ",
    "新規登録", "비밀번호 찾기", "비밀번호를 잊으셨나요", "회원가입", "subscribe now", "view subscription options",
    "start your free trial", "see subscription options", "cancel anytime", "cancel any time",
    "jetzt abonnieren", "abonnieren", "testen",
];

/// Lines that say nothing of the page when they stand alone.
#[rustfmt::skip]
pub(super) const LABELS: &[&str] = &[
    "or", "and", "email", "e-mail", "password", "username", "user name", "login", "log in", "log on", "sign in",
    "signin", "register", "join", "join now", "submit", "send", "continue", "next", "cancel", "close", "back",
    "home", "homepage", "help", "contact", "contact us", "support", "privacy", "terms", "cookies", "legal",
    "about", "imprint", "refresh", "reload", "retry", "try again", "error", "sorry", "oops", "facebook",
    "google", "apple", "microsoft", "github", "twitter", "linkedin", "x", "cloudflare", "hcaptcha", "recaptcha",
    "url", "time", "subscribe", "learn more", "details", "required", "welcome", "loading", "verify",
    "verifying", "show", "hide", "need help", "account", "my account", "sso", "passwort", "anmelden",
    "registrieren", "abbrechen", "weiter", "oder", "hilfe", "kontakt", "impressum", "datenschutz", "agb", "ou",
    "connexion", "s'inscrire", "inscription", "annuler", "continuer", "aide", "valider", "o", "usuario",
    "registrarse", "entrar", "siguiente", "ayuda", "accedi", "registrati", "avanti", "senha", "wachtwoord",
    "registreren", "inloggen", "hasło", "zaloguj się", "логин", "пароль", "войти", "регистрация", "登录", "注册",
    "密码", "用户名", "ログイン", "パスワード", "로그인", "비밀번호", "아이디",
];
