// The settings that the service is started with, and the settings that its listener needs.
import type { Config } from './base/config.ts';
import { version } from './base/version.ts';
import type { HttpLimits } from './http/server.ts';

/** The settings, except those of the process and its database. */
export type AppConfig = Omit<
  Config,
  'dataDir' | 'databaseUrl' | 'logLevel' | 'drainSeconds' | 'shutdownSeconds'
> & {
  /** Whether the console is built from its sources while the service runs. */
  isDevelopment?: boolean;
  /** How long, in ms, a client may leave a response unread. Default: a minute. */
  readTimeout?: number;
  /** Replaces the default limits of connections and bodies. */
  httpLimits?: HttpLimits;
  /** Lower limits of connections than the default ones. */
  connections?: { http: number; sftp: number } | undefined;
  /** The longest time, in ms, that reading a streamed response may take in total. Default: half an hour. */
  longestRead?: number;
  /** How many weeks the demo company of sandboxes has, if fewer than 26. */
  sandboxWeeks?: number;
  /** False for tests that apply directories (SCIM) themselves. */
  appliesDirectories?: boolean;
};

/** Returns what the demo company of sandboxes is, besides its content: the version that creates it, and its number of weeks. */
export const templateOf = ({ sandboxWeeks = 26 }: AppConfig) => ({ program: version, weeks: sandboxWeeks });

/** Whether users connect over HTTPS. */
export const isSecure = ({ publicUrl }: AppConfig): boolean => publicUrl.startsWith('https:');

/**
 * How many streamed responses may be read at a time, in total and per account. Each takes a database connection, and slow readers
 * must not take them all.
 */
export const [longReads, longReadsOfAccount] = [6, 3];

/** How long, in ms, a client may leave a response unread before its connection is closed. */
export const readTimeout = 60_000;

/** Returns the options of the listener. */
export const listenerOptions = (config: AppConfig) => ({
  tls: config.tls,
  trustProxy: config.trustProxy,
  httpsOnlyAt: config.httpsOnly ? config.publicUrl : undefined,
  limits: {
    ...config.httpLimits,
    connections: {
      ...(config.connections && { total: config.connections.http }),
      ...config.httpLimits?.connections,
    },
  },
  corsOrigins: config.corsOrigins,
  isSecure: isSecure(config),
  readTimeout: config.readTimeout ?? readTimeout,
});
