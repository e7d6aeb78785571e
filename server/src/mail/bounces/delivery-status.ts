// Reads the reports with which mail servers return undeliverable emails (RFC 3464), and says who the returned email was sent to. The
// Message-ID of our emails contains a token for that, because servers return it even if they return nothing else.
import { withoutAddresses } from '../../sending/reasons.ts';

/** A returned email. `to`: the address it was sent to. `reason`: what the mail server said, without addresses. */
export type Bounce = { token: string; to: string; reason: string };

/** Returns the part of a Message-ID before "@". `name`: a unique text. It stays below 64 characters, the limit of some programs. */
export const bounceMessageId = (name: string, token: string): string => `${name.slice(0, 28)}.${token}`;

const messageId = /^<[0-9a-f-]+\.([\w-]{32})@[^<>@\s]+>$/i;

/**
 * Returns the email that a report returns as permanently undeliverable; undefined if this is not such a report, or the email is not one
 * of ours with a token. The report may come from anyone, so the caller checks the token.
 */
export async function bounceIn(report: Uint8Array): Promise<Bounce | undefined> {
  // Loaded here, because most installations read no reports.
  const { default: PostalMime } = await import('postal-mime');
  const parsed = await PostalMime.parse(report, {
    forceRfc822Attachments: true,
    attachmentEncoding: 'utf8',
  }).catch(() => undefined);
  const partOf = (type: RegExp) => {
    const found = parsed?.attachments.find(({ mimeType }) => type.test(mimeType));
    return typeof found?.content === 'string' ? found.content : undefined;
  };
  const status = partOf(/^message\/(?:global-)?delivery-status$/i);
  const original = partOf(/^(?:message\/(?:rfc822|global)|text\/rfc822-headers|message\/global-headers)$/i);
  if (status === undefined || original === undefined) return undefined;
  const failed = groupsOf(status)
    .map(fieldsOf)
    .find(
      (fields) => /^failed\b/i.test(fields.get('action') ?? '') && fields.get('status')?.startsWith('5.'),
    );
  const headers = fieldsOf(groupsOf(original)[0] ?? '');
  const [, token] = messageId.exec(headers.get('message-id') ?? '') ?? [];
  const to = addressIn(headers.get('to') ?? '');
  if (!failed || token === undefined || to === undefined) return undefined;
  const said = failed.get('diagnostic-code')?.replace(/^[^;]*;/, '') || failed.get('status')!;
  return { token, to, reason: withoutAddresses(said, to) };
}

/** Returns the groups of fields of a text, which are separated by empty lines. */
const groupsOf = (text: string): string[] =>
  text
    .replaceAll('\r\n', '\n')
    .split(/\n[ \t]*\n/)
    .filter((group) => group.trim() !== '');

/** Returns the fields of a group by their names in lower case, unfolded. If a name is repeated, the first one counts. */
function fieldsOf(group: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of group.replaceAll(/\n[ \t]+/g, ' ').split('\n')) {
    const [, name, value] = /^([\w-]+):[ \t]*(.*)$/.exec(line) ?? [];
    if (name !== undefined && !fields.has(name.toLowerCase())) fields.set(name.toLowerCase(), value!.trim());
  }
  return fields;
}

const addressIn = (header: string): string | undefined =>
  /<([^<>\s]+@[^<>\s]+)>$|^([^<>\s]+@[^<>\s]+)$/.exec(header)?.slice(1).find(Boolean);
