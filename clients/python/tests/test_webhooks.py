from __future__ import annotations

import base64
import hashlib
import hmac
import json
import unittest

from switchyard import WebhookVerificationError, verify_webhook

SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two characters").decode()
OLD = "whsec_" + base64.b64encode(b"another one of thirty-two letters").decode()
BODY = json.dumps({"type": "order.paid", "data": {"cents": 4200, "text": "für dich"}})
SENT_AT = 1_772_366_400


def sign(secret: str, body: str = BODY, sent_at: int = SENT_AT) -> str:
    key = base64.b64decode(secret[6:])
    signed = f"msg_1.{sent_at}.{body}".encode()
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def headers(signature: str, sent_at: object = SENT_AT) -> "dict[str, str]":
    return {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(sent_at), "Webhook-Signature": signature}


class WebhookTests(unittest.TestCase):
    def test_a_webhook_with_a_valid_signature_is_its_event_as_text_and_as_bytes(self) -> None:
        for body in (BODY, BODY.encode()):
            event = verify_webhook(body, headers(sign(SECRET)), SECRET, now=SENT_AT)
            self.assertEqual(event["data"]["text"], "für dich")

    def test_during_a_rotation_either_secret_verifies_a_webhook(self) -> None:
        both = f"{sign(OLD)} {sign(SECRET)} v1a,other"
        verify_webhook(BODY, headers(both), OLD, now=SENT_AT)
        verify_webhook(BODY, headers(sign(OLD)), [SECRET, OLD], now=SENT_AT)

    def test_a_webhook_that_was_changed_is_forged_or_is_too_old_is_refused(self) -> None:
        good = headers(sign(SECRET))
        refused = [
            (BODY + " ", good, SENT_AT),
            (BODY, headers(sign(OLD)), SENT_AT),
            (BODY, headers(""), SENT_AT),
            (BODY, headers("v1,für"), SENT_AT),
            (BODY, headers(sign(SECRET), SENT_AT + 1), SENT_AT),
            (BODY, headers(sign(SECRET), "soon"), SENT_AT),
            (BODY, headers(sign(SECRET), "²"), SENT_AT),
            (BODY, {**good, "Webhook-Id": "msg_2"}, SENT_AT),
            (BODY, {}, SENT_AT),
            (BODY, good, SENT_AT + 301),
            (BODY, good, SENT_AT - 301),
        ]
        for body, each, now in refused:
            with self.subTest(each), self.assertRaises(WebhookVerificationError):
                verify_webhook(body, each, SECRET, now=now)

    def test_a_secret_that_is_no_base64_is_a_mistake_of_the_program(self) -> None:
        for secret in ("whsec_ä", "whsec_", "whsec_a"):
            with self.assertRaisesRegex(ValueError, "must be whsec_ and base64"):
                verify_webhook(BODY, headers(sign(SECRET)), secret, now=SENT_AT)
