// The command that tests the email settings. It needs no database, so that it also works before the first start.
import {
  findingText,
  hasProblem,
  type MailArguments,
  type MailFinding,
} from '@soundings/contract/console/mail-findings.ts';
import { isEmail } from '@soundings/contract/formats.ts';
import en from '@soundings/contract/text/en/mail.json' with { type: 'json' };
import type { Config } from '../base/config.ts';
import { catalogue } from '../base/texts.ts';
import { noMailServer } from '../mail/mail-faults.ts';
import { type Command, type OptionValues, required, table, text, UsageError } from './options.ts';

const t = catalogue<typeof en, MailArguments>({ en }).in('en');

export const mailCommands = (config: () => Config): Record<string, Command> => ({
  'mail test': {
    usage:
      '--to ADDRESS\n' +
      '    Tests the email settings: connects to the mail server step by step, sends a test email, and checks the DNS records of\n' +
      '    the sender. Says how to fix each problem. The exit status is 1 if there is one. Run it with the settings of the service.',
    options: { to: text },
    runAlone: (values) => testMailSettings(config(), values),
    format: findingsText,
    isFailure: hasProblem,
  },
});

async function testMailSettings(
  { smtpUrl, mailFrom, dkim }: Config,
  values: OptionValues,
): Promise<MailFinding[]> {
  const to = required(values, 'to');
  if (!isEmail(to)) throw new UsageError(`--to must be an email address, not "${to}".`);
  if (smtpUrl === undefined) throw noMailServer();
  // Imported here, because every other command would load it too.
  const [{ openMailer }, { checkMail }, { testMail }] = await Promise.all([
    import('../mail/mailer.ts'),
    import('../mail/check/mail-check.ts'),
    import('../mail/test-mail.ts'),
  ]);
  const mailer = openMailer(smtpUrl, mailFrom, { dkim });
  try {
    return await checkMail({ smtpUrl, mailFrom, dkim }, mailer, { to, ...testMail('en', 'Soundings') });
  } finally {
    mailer.close();
  }
}

const findingsText = (findings: MailFinding[]): string =>
  table(
    findings.map((one) => [
      t(`mailCheck.outcome.${one.outcome}`),
      t(`mailCheck.step.${one.step}`),
      findingText(one, t),
    ]),
  );
