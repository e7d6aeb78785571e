// The console: what people get as text messages, and how many segments that takes.
import type { SmsSettingsView } from '@soundings/contract/console/access.ts';
import { accountById } from '../../accounts/accounts.ts';
import type { Channels } from '../../base/messages/channels.ts';
import type { SmsGateway } from '../../base/messages/sms.ts';
import type { Pool } from '../../db/db.ts';
import { answeringLanguages } from '../../languages/languages.ts';
import { answeringAddressOf } from '../../rounds/links.ts';
import { invitationSms } from '../../rounds/messages/invitation-sms.ts';
import { segmentsOf } from '../../sms/segments.ts';
import type { Console } from '../core/console.ts';
import { selectTextable } from './access.sql.ts';

export type SmsSettingsOptions = {
  pool: Promise<Pool>;
  publicUrl: string;
  sms: SmsGateway | undefined;
  channels: Channels;
};

/** Has the length of a link, and is none. */
const sampleLink = 'AbCdEfGhIjKlMnOpQrStUvWxYz0';
/** As many as most weeks ask. */
const sampleQuestions = 4;

export function serveSmsSettings(
  console: Console,
  { pool, publicUrl, sms, channels }: SmsSettingsOptions,
): void {
  console.serve('GET /settings/sms', async ({ accountId }): Promise<SmsSettingsView> => {
    const [{ name }, people] = await Promise.all([
      accountById(await pool, accountId),
      selectTextable(await pool, accountId, channels.mail),
    ]);
    const link = answeringAddressOf(sampleLink, publicUrl);
    const previews = answeringLanguages.codes.flatMap((language) =>
      (['invitation', 'reminder'] as const).map((kind) => {
        const text = invitationSms({ kind, language, company: name, questions: sampleQuestions }, link);
        return { language, kind, text, ...segmentsOf(text) };
      }),
    );
    return { gateway: sms?.provider ?? null, people, previews };
  });
}
