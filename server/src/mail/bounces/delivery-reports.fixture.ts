// Reports of undeliverable emails in the forms that common mail servers write.
export type Form = 'Postfix' | 'Exchange' | 'Gmail';

const forms: Record<Form, (to: string, headers: string, status: string) => string> = {
  Postfix: (to, headers, status) => `From: MAILER-DAEMON@mx.example.net (Mail Delivery System)
Subject: Mail returned to sender
To: bounces@example.com
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="4F1.17/mx"

This is a MIME-encapsulated message.

--4F1.17/mx
Content-Description: Notification
Content-Type: text/plain; charset=us-ascii

The email could not be sent on to one recipient.

--4F1.17/mx
Content-Description: Delivery report
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.net
X-Postfix-Queue-ID: 4F1
Arrival-Date: Thu, 26 Nov 2026 05:00:00 +0000 (UTC)

Final-Recipient: rfc822; ${to}
Original-Recipient: rfc822;${to}
Action: ${status.startsWith('5') ? 'failed' : 'delayed'}
Status: ${status}
Remote-MTA: dns; mail.example.org
Diagnostic-Code: smtp; 550 ${status} <${to}>: Recipient address
    rejected: no such mailbox, see https://example.org/help

--4F1.17/mx
Content-Description: Headers of the message
Content-Type: text/rfc822-headers

${headers}
--4F1.17/mx--
`,
  Exchange: (to, headers, status) => `From: "Microsoft Outlook" <postmaster@example.net>
To: <bounces@example.com>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
	boundary="6f0e"
Subject: Undeliverable: Two questions

--6f0e
Content-Type: multipart/alternative; differences=Content-Type;
	boundary="71aa"

--71aa
Content-Type: text/plain; charset="utf-8"
Content-Transfer-Encoding: base64

VGhlIGVtYWlsIGFkZHJlc3MgZG9lcyBub3QgZXhpc3Qu

--71aa
Content-Type: text/html; charset="utf-8"

<p>The email address does not exist.</p>

--71aa--

--6f0e
Content-Type: message/delivery-status

Reporting-MTA: dns;mx.example.net

Final-recipient: RFC822;${to}
Action: ${status.startsWith('5') ? 'failed' : 'delayed'}
Status: ${status}
Diagnostic-code: smtp;550 ${status} RESOLVER.ADR.RecipientNotFound; not found by SMTP address lookup
X-Display-Name: ${to}

--6f0e
Content-Type: message/rfc822

Received: from mail.example.com by mx.example.net with ESMTPS;
 Thu, 26 Nov 2026 05:00:00 +0000
${headers}
Two questions for you: https://soundings.example/a/secretsecretsecret

--6f0e--
`,
  Gmail: (to, headers, status) => `To: bounces@example.com
From: Mail Delivery Subsystem <mailer-daemon@example.net>
Subject: Delivery Status Notification (Failure)
Content-Type: multipart/report; boundary="000000000000a1"; report-type=delivery-status
MIME-Version: 1.0

--000000000000a1
Content-Type: multipart/related; boundary="000000000000a2"

--000000000000a2
Content-Type: text/html; charset="UTF-8"
Content-Transfer-Encoding: quoted-printable

<b>Address not found</b>

--000000000000a2
Content-Type: image/png; name="icon.png"
Content-Disposition: attachment; filename="icon.png"
Content-Transfer-Encoding: base64
Content-ID: <icon.png>

iVBORw0KGgo=
--000000000000a2--
--000000000000a1
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.net
Received-From-MTA: dns; mail.example.com

Final-Recipient: rfc822; ${to}
Action: ${status.startsWith('5') ? 'failed' : 'delayed'}
Status: ${status}
Diagnostic-Code: smtp; 550-${status} The email account that you tried to reach does not exist. Please try
 550-${status} double-checking the recipient's email address.
Last-Attempt-Date: Thu, 26 Nov 2026 05:00:00 -0800 (PST)

--000000000000a1
Content-Type: message/rfc822

${headers}
--000000000000a1--
`,
};

export const formNames = Object.keys(forms) as Form[];

/** Returns a report. `headers`: those of the returned email, one for each line. `status`: 5.1.1, or 4.x.x for a delay. */
export const reportOf = (form: Form, to: string, headers: string[], status = '5.1.1'): Buffer =>
  Buffer.from(forms[form](to, `${headers.join('\n')}\n`, status).replaceAll('\n', '\r\n'));
