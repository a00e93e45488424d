"""Signs a webhook's body as the payment provider's own Python library does: `sign_event.py SECRET TIME`, body on
standard input. Prints the header, after the library itself has taken the event."""

import sys

import stripe

secret, time = sys.argv[1], int(sys.argv[2])
body = sys.stdin.buffer.read().decode("utf-8")
signature = stripe.WebhookSignature._compute_signature(f"{time}.{body}", secret)
header = f"t={time},v1={signature}"
stripe.WebhookSignature.verify_header(body, header, secret, tolerance=None)
print(header)
