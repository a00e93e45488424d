"""Reads every mail in a folder as Python's own parser does: `read_mail.py FOLDER`. Prints them as a JSON list."""

import hashlib
import json
import mailbox
import sys
from email import policy
from email.parser import BytesParser


def told(message):
    mail = BytesParser(policy=policy.default).parsebytes(message.as_bytes())
    assert not mail.defects, mail.defects
    attachments = [
        {
            "name": part.get_filename(),
            "type": part.get_content_type(),
            "sha256": hashlib.sha256(part.get_content()).hexdigest(),
        }
        for part in mail.iter_attachments()
    ]
    return {
        "to": mail["to"],
        "from": mail["from"],
        "subject": mail["subject"],
        "message_id": mail["message-id"],
        "auto_submitted": mail["auto-submitted"],
        "text": mail.get_body(("plain",)).get_content(),
        "html": mail.get_body(("html",)).get_content(),
        "attachments": attachments,
    }


print(json.dumps([told(message) for message in mailbox.Maildir(sys.argv[1])]))
