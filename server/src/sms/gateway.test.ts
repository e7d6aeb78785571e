// The gateway for text messages, against a real receiver: what it gets, and what each of its responses and failures means.
import { describe, expect, onTestFinished, test } from 'vitest';
import { smsTemplates } from '../base/messages/sms.ts';
import { signatureHeaders } from '../base/outgoing/signature.ts';
import { certificate } from '../mail/certificate.fixture.ts';
import { Deferred, Rejected, Throttled, Unconfirmed } from '../sending/outcomes.ts';
import { openGateway } from './gateway.ts';
import { gatewaySettings, isSigned, type Manner, openTestGateway, signingSecret } from './gateway.fixture.ts';
import type { Sms } from './sms.ts';

const link = 'https://soundings.example/a/0123456789abcdefghijABCDEFG';
const sms: Sms = {
  to: '+46701234567',
  text: `Nordwind: "{phone}" & 2 frågor\n${link}`,
  id: 'asking 1 2 2026-11-16 3 invitation',
  kind: 'invitation',
  language: 'sv',
  externalId: 'p-2000',
  email: null,
};
const tls = await certificate({ name: 'IP:127.0.0.1' });
const brief = { connect: 500, response: 300, body: 200 };

async function receiver(
  manner: Manner | (() => Manner) = 'takes',
  options: Parameters<typeof openTestGateway>[1] = {},
) {
  const gateway = await openTestGateway(typeof manner === 'function' ? manner : () => manner, options);
  onTestFinished(() => gateway.close());
  return gateway;
}

const thrownBy = (work: Promise<void>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Sends the message to a gateway that behaves like this, and returns what was thrown. */
async function outcomeAt(manner: Manner, changes: Record<string, string> = {}) {
  const { url } = await receiver(manner);
  return thrownBy(openGateway(gatewaySettings(url, changes), brief).send(sms));
}

describe('a request', () => {
  test('has the message as JSON, with the person for a chat, and a signature that the receiver can verify', async () => {
    const { url, got } = await receiver();
    await openGateway(gatewaySettings(url, { SMS_PASSWORD: 'token' })).send(sms);
    const [one] = got;
    expect(one).toMatchObject({
      method: 'POST',
      path: '/messages',
      headers: { authorization: 'Bearer token' },
    });
    expect(one!.json).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      kind: 'invitation',
      phone: '+46701234567',
      externalId: 'p-2000',
      email: null,
      language: 'sv',
      text: sms.text,
    });
    expect(one!.headers['idempotency-key']).toBe(one!.json.id);
    expect(isSigned(one!, signingSecret, Date.now())).toBe(true);
    expect(isSigned({ ...one!, body: `${one!.body} ` }, signingSecret, Date.now())).toBe(false);
    expect(isSigned(one!, `whsec_${'A'.repeat(32)}`, Date.now())).toBe(false);
    expect(isSigned(one!, signingSecret, Date.now() + 600_000)).toBe(false);
  });

  test('is signed like the example of Standard Webhooks', () => {
    const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
    const example = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      body: '{"test": 2432232314}',
      now: 1_614_265_330_999,
    };
    expect(signatureHeaders([key], example)).toEqual({
      'webhook-id': example.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  test('has the same key if it is repeated, and another one for another message', async () => {
    const { url, got } = await receiver();
    const gateway = openGateway(gatewaySettings(url));
    for (const id of [sms.id, sms.id, 'another']) await gateway.send({ ...sms, id });
    const keys = got.map(({ json }) => json.id);
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  const basic = `Basic ${Buffer.from('AC1:secret').toString('base64')}`;
  const form = 'application/x-www-form-urlencoded';
  const json = 'application/json';
  test.each([
    ['twilio', basic, form, { To: sms.to, From: 'Nordwind', Body: sms.text }],
    ['46elks', basic, form, { to: sms.to, from: 'Nordwind', message: sms.text }],
    [
      'vonage',
      basic,
      json,
      { channel: 'sms', message_type: 'text', to: '46701234567', from: 'Nordwind', text: sms.text },
    ],
    [
      'messagebird',
      'AccessKey secret',
      json,
      {
        originator: 'Nordwind',
        recipients: ['46701234567'],
        body: sms.text,
        datacoding: 'auto',
        reference: expect.any(String),
      },
    ],
    [
      'sinch',
      'Bearer secret',
      json,
      { from: 'Nordwind', to: [sms.to], body: sms.text, client_reference: expect.any(String) },
    ],
  ])('to %s has the format that it documents', async (provider, authorization, type, body) => {
    const { url, got } = await receiver();
    const settings = gatewaySettings(url, {
      SMS_PROVIDER: provider,
      SMS_USER: 'AC1',
      SMS_PASSWORD: 'secret',
      SMS_FROM: 'Nordwind',
      SMS_SIGNING_SECRET: '',
    });
    await openGateway(settings).send(sms);
    const [one] = got;
    expect(one!.headers).toMatchObject({ authorization, 'content-type': type });
    expect(one!.headers['webhook-signature']).toBeUndefined();
    expect(type === json ? one!.json : Object.fromEntries(new URLSearchParams(one!.body))).toEqual(body);
  });

  test('is as the operator describes it: values never change the structure of the request', async () => {
    const { url, got } = await receiver();
    const request = {
      method: 'PUT',
      headers: { 'X-Key': 'k {password}' },
      json: {
        messages: [{ to: '{phone}', mail: '{email}', sum: 'to {phone}{email}', n: 1, __proto__: '{text}' }],
      },
    };
    const written = JSON.stringify(request).replace('"n":1', '"n":1,"__proto__":"{text}"');
    await openGateway(
      gatewaySettings(url, { SMS_PROVIDER: 'custom', SMS_PASSWORD: 'p', SMS_REQUEST: written }),
    ).send({ ...sms, text: '","to":"+1' });
    expect(got[0]).toMatchObject({ method: 'PUT', headers: { 'x-key': 'k p' } });
    expect(got[0]!.body).toBe(
      `{"messages":[{"to":"+46701234567","mail":null,"sum":"to +46701234567","n":1,"__proto__":${JSON.stringify('","to":"+1')}}]}`,
    );
  });

  test.skipIf(!tls)(
    'goes over HTTPS with a valid certificate only, unless the operator trusts the gateway',
    async () => {
      const gateway = await receiver('takes', tls && { tls });
      const strict = { ...gatewaySettings(gateway.url), isTrusted: false };
      const error = await thrownBy(openGateway(strict, brief).send(sms));
      expect(error).not.toBeInstanceOf(Unconfirmed);
      expect((error as Error).message).toMatch(/can't be reached: \w*CERT\w*/);
      expect(gateway.got).toEqual([]);
      await openGateway(gatewaySettings(gateway.url), brief).send(sms);
      expect(gateway.got).toHaveLength(1);
    },
  );
});

describe('an outcome', () => {
  test.each([
    ['rejected', Rejected, [400, 409, 410, 413, 418, 422]],
    ['deferred', Deferred, [408, 425]],
    ['unknown, because a proxy may have passed it on,', Unconfirmed, [502, 504]],
  ] as const)('is %s by its status', async (_, kind, statuses) => {
    for (const status of statuses)
      expect([status, await outcomeAt({ status })]).toEqual([status, expect.any(kind)]);
  });

  test('is that no message is accepted now: after an error of the gateway, for wrong settings, and for a redirect, which is not followed', async () => {
    const other = await receiver();
    for (const status of [500, 501, 503, 401, 402, 403, 404, 405, 301, 302, 303, 307, 308, 304]) {
      const error = await outcomeAt({ status, headers: { location: other.url } });
      expect([status, error]).toEqual([status, expect.any(Error)]);
      for (const kind of [Rejected, Deferred, Unconfirmed])
        expect([status, error]).not.toEqual([status, expect.any(kind)]);
    }
    expect(other.connections()).toBe(0);
  });

  test('says how long to wait, in seconds or until a time, and at most a day', async () => {
    const now = Date.parse('2026-11-18T12:00:00Z');
    for (const [status, header, waitMs] of [
      [429, '120', 120_000],
      [503, '7', 7_000],
      [429, 'Wed, 18 Nov 2026 12:10:00 GMT', 600_000],
      [429, 'Wed, 18 Nov 2026 11:00:00 GMT', 0],
      [429, '999999999', 86_400_000],
      [429, 'soon', undefined],
    ] as const) {
      const { url } = await receiver({ status, headers: { 'retry-after': header } });
      const error = await thrownBy(openGateway(gatewaySettings(url), { now: () => now }).send(sms));
      expect([header, error]).toEqual([header, expect.any(Throttled)]);
      expect([header, (error as Throttled).waitMs]).toEqual([header, waitMs]);
    }
  });

  test('is unknown if the connection ends or nothing comes after the request was sent', async () => {
    expect(await outcomeAt('hangs up')).toBeInstanceOf(Unconfirmed);
    expect(await outcomeAt('silent')).toBeInstanceOf(Unconfirmed);
  });

  test('is to try again in these cases, if the gateway ignores repeated keys', async () => {
    for (const manner of ['hangs up', 'silent', { status: 502 }, { status: 504 }] as const) {
      const error = await outcomeAt(manner, { SMS_IDEMPOTENT: '1' });
      expect(error).toBeInstanceOf(Error);
      for (const kind of [Rejected, Deferred, Unconfirmed]) expect(error).not.toBeInstanceOf(kind);
    }
  });

  test('is to try again if the gateway can’t be reached, or closes the connection before the message is sent', async () => {
    const gone = await receiver();
    await gone.close();
    const refused = await thrownBy(openGateway(gatewaySettings(gone.url), brief).send(sms));
    expect((refused as Error).message).toMatch(/can't be reached: ECONNREFUSED/);
    const early = await receiver('hangs up early');
    // The database records that sending begins, which takes longer than the gateway.
    const beforeEnd = () => new Promise<void>((resolve) => setTimeout(resolve, 100));
    const closed = await thrownBy(openGateway(gatewaySettings(early.url), brief).send(sms, beforeEnd));
    expect(closed).toBeInstanceOf(Error);
    expect(closed).not.toBeInstanceOf(Unconfirmed);
    expect(early.got).toEqual([]);
  });

  test('reads only the beginning of a response, however long or slow it is, and the status counts', async () => {
    for (const manner of ['endless', 'dripping'] as const) {
      const gateway = await receiver(manner);
      const error = await thrownBy(openGateway(gatewaySettings(gateway.url), brief).send(sms));
      expect(error).toBeInstanceOf(Rejected);
      expect((error as Error).message.length).toBeLessThan(320);
      expect(gateway.written()).toBeLessThan(20_000_000);
    }
  });

  test('has a reason without the number, the link, the person and the login, even if the gateway quotes them in any way', async () => {
    const settings = {
      SMS_PROVIDER: 'custom',
      SMS_USER: 'user-17',
      SMS_PASSWORD: 'hunter2!',
      SMS_REQUEST: '{"form":{"t":"{text}"}}',
    };
    const secret = '0123456789abcdefghijABCDEFG';
    for (const body of [
      `{"error":"bad","to":"+46701234567","text":"see ${link}"}`,
      JSON.stringify({ a: JSON.stringify({ link }).replaceAll('/', String.raw`\/`) }),
      `t=${encodeURIComponent(link)}&to=%2B46701234567`,
      `number 0046 70-123 45 67, 46701234567 (070) 123.45.67`,
      `${secret} p-2000 a.b@example.org user-17:hunter2!`,
      Buffer.from(`x${link}`).toString('base64'),
    ]) {
      const error = (await outcomeAt({ status: 400, body }, settings)) as Error;
      expect(error).toBeInstanceOf(Rejected);
      expect(error.message).toMatch(/^HTTP 400/);
      expect(error.message.replaceAll(/\W/g, '')).not.toMatch(
        /0?701?23|1234567|ghijABC|soundings|p2000|example|user17|hunter/,
      );
    }
  });
});

describe('the last check', () => {
  test('comes when the connection is ready and nothing was sent; if it fails, nothing is', async () => {
    const gateway = await receiver();
    const client = openGateway(gatewaySettings(gateway.url), brief);
    const reason = new Error('withdrawn');
    const failing = async () => {
      expect([gateway.connections(), gateway.got.length]).toEqual([1, 0]);
      throw reason;
    };
    expect(await thrownBy(client.send(sms, failing))).toBe(reason);
    await client.send({ ...sms, id: 'next' }, async () => {});
    expect(gateway.got).toHaveLength(1);
  });

  test('is not made if the gateway can’t be reached or the service is stopping', async () => {
    const gone = await receiver();
    await gone.close();
    let checks = 0;
    const check = async () => void checks++;
    const client = openGateway(gatewaySettings(gone.url), brief);
    expect(await thrownBy(client.send(sms, check))).toBeInstanceOf(Error);
    client.close();
    expect(await thrownBy(client.send(sms, check))).toMatchObject({ message: 'The service is stopping.' });
    expect(checks).toBe(0);
  });
});

test('every template has a test of its format', () => {
  expect(Object.keys(smsTemplates).toSorted()).toEqual([
    '46elks',
    'messagebird',
    'sinch',
    'twilio',
    'vonage',
    'webhook',
  ]);
});
