// Reads the emails of a mailbox over IMAP, each once.
import type { ImapFolder } from '../../base/messages/smtp.ts';

/** The most emails that one call reads, and the bytes of each. Longer ones are cut, since what is read is at the beginning. */
const limits = { emails: 500, bytes: 256 * 1024 };

/** In ms: until the connection is ready, and until the server responds. */
const timeouts = { connect: 30_000, response: 60_000 };

/**
 * Passes each unread email of a folder to `handle`. Emails that it returns true for are deleted; the others are marked as read. If `handle`
 * throws, this email and those after it stay unread. Returns how many were handled. Throws the errors of the connection.
 */
export async function readMailbox(
  { host, port, isTls, isTrusted, login, folder }: ImapFolder,
  handle: (email: Uint8Array) => Promise<boolean>,
): Promise<number> {
  // Loaded here, because most installations have no such mailbox.
  const { ImapFlow } = await import('imapflow');
  const client = new ImapFlow({
    host,
    port,
    secure: isTls,
    ...(!isTls && !isTrusted && { doSTARTTLS: true }),
    tls: { rejectUnauthorized: !isTrusted },
    auth: { user: login.user, pass: login.password },
    logger: false,
    disableAutoIdle: true,
    connectionTimeout: timeouts.connect,
    greetingTimeout: timeouts.connect,
    socketTimeout: timeouts.response,
  });
  client.on('error', () => {}); // the call that is waiting reports it
  let handled = 0;
  try {
    await client.connect();
    await client.mailboxOpen(folder);
    const unread = (await client.search({ seen: false, deleted: false }, { uid: true })) || [];
    for (const uid of unread.slice(0, limits.emails)) {
      const source = { start: 0, maxLength: limits.bytes };
      const email = await client.fetchOne(String(uid), { source }, { uid: true });
      if (!email || !email.source) continue; // deleted in the meantime
      if (await handle(email.source)) await client.messageDelete(String(uid), { uid: true });
      else await client.messageFlagsAdd(String(uid), ['\\Seen'], { uid: true });
      handled++;
    }
    await client.logout();
  } finally {
    client.close();
  }
  return handled;
}
