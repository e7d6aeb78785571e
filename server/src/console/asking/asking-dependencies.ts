// What the routes of questions, schedules and weeks need to serve their operations.
import type { Channels } from '../../base/messages/channels.ts';
import type { Pool } from '../../db/db.ts';
import type { Mailer } from '../../mail/mail.ts';

export type AskingDependencies = {
  pool: Promise<Pool>;
  mailer: Mailer | undefined;
  /** What is configured. */
  channels: Channels;
  publicUrl: string;
  now: () => number;
};
