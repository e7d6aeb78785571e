// Why the console can't send an email that a person asks for.
import { Fault } from '../base/errors.ts';

/** Returns the Fault for an installation without a mail server. `kind`: conflict, if something else can be done instead. */
export const noMailServer = (kind: 'invalid' | 'conflict' = 'invalid'): Fault =>
  new Fault(kind, 'no mail server', 'No mail server is configured. Set SMTP_URL and restart the service.');

/** Returns the Fault for a caller who has no email address. */
export const noEmail = (): Fault =>
  new Fault('invalid', 'no email', 'You have no email address to send it to. Add one first.');

/** Returns the Fault for an email that the mail server did not accept. */
export function mailRejected(error: unknown): Fault {
  const { message: value } = error as Error;
  const message = `The mail server rejected the email: ${value}`;
  return new Fault('invalid', 'mail rejected', message, {
    details: [{ type: 'mail rejected', message, value }],
  });
}
