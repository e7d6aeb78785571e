// The command that tests the gateway for text messages. It needs no database, so that it also works before the first start.
import { normalisePhone } from '@soundings/contract/formats.ts';
import type { Config } from '../base/config.ts';
import { Fault } from '../base/errors.ts';
import { type Command, type OptionValues, required, text, UsageError } from './options.ts';

export const smsCommands = (config: () => Config): Record<string, Command> => ({
  'sms test': {
    usage:
      '--to NUMBER [--language L]\n' +
      '    Tests the gateway for text messages (SMS_…): sends an invitation with a link that does not work. Prints the text and its\n' +
      '    number of segments, and what the gateway says. The exit status is 1 if it does not accept the message. Run it with the\n' +
      '    settings of the service. Your provider may charge for it.',
    options: { to: text, language: text },
    runAlone: (values) => testGateway(config(), values),
    format: ({ text: sent, provider, outcome, ...size }: SmsTest) =>
      [
        sent,
        `${size.segments} segment${size.segments === 1 ? '' : 's'}: ${size.length} characters of ${size.encoding}.`,
        outcome === null ? `Accepted by the gateway (${provider}).` : `Not accepted: ${outcome}`,
      ].join('\n'),
    isFailure: ({ outcome }: SmsTest) => outcome !== null,
  },
});

/** `outcome`: why the gateway did not accept the message, or null. */
type SmsTest = {
  provider: string;
  text: string;
  encoding: string;
  length: number;
  segments: number;
  outcome: string | null;
};

async function testGateway({ sms, publicUrl }: Config, values: OptionValues): Promise<SmsTest> {
  const to = normalisePhone(required(values, 'to'));
  if (to === undefined)
    throw new UsageError('--to must be a phone number with its country code, such as +46701234567.');
  if (!sms) {
    const message = 'No gateway for text messages is configured. Set SMS_PROVIDER.';
    throw new Fault('invalid', 'no gateway', message);
  }
  // Imported here, because every other command would load it too.
  const [{ openGateway }, { segmentsOf }, { invitationSms }, { answeringAddressOf }] = await Promise.all([
    import('../sms/gateway.ts'),
    import('../sms/segments.ts'),
    import('../rounds/messages/invitation-sms.ts'),
    import('../rounds/links.ts'),
  ]);
  const language = typeof values['language'] === 'string' ? values['language'] : 'en';
  const link = answeringAddressOf('AbCdEfGhIjKlMnOpQrStUvWxYz0', publicUrl);
  const written = invitationSms({ kind: 'invitation', language, company: 'Soundings', questions: 4 }, link);
  const id = `sms test ${Date.now()}`; // a gateway that ignores repeated keys must not ignore the second test
  const outcome = await openGateway(sms)
    .send({ to, text: written, id, kind: 'test', language, externalId: null, email: null })
    .then(
      () => null,
      (error: unknown) => (error as Error).message,
    );
  return { provider: sms.provider, text: written, ...segmentsOf(written), outcome };
}
