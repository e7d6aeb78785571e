// The PostgreSQL settings of our connections. They don't depend on those of the role, the database or the server. Pure.

/** Poolers that share sessions keep these for each client, and refuse most others. */
export const ofEveryClient = {
  TimeZone: 'UTC',
  DateStyle: 'ISO, YMD', // the only one in which days and times are read correctly
  standard_conforming_strings: 'on', // otherwise backslashes in our statements would be escapes
};

/** With other values of these, values would be misread, or statements would fail. */
export const ofReading = {
  array_nulls: 'on',
  bytea_output: 'hex',
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1', // otherwise the last digits of numbers would be missing
} as const;

/**
 * The settings of every connection that has its own session. The server checks silent connections. If a machine has lost power or network, the
 * server ends its connections within a minute, together with their transactions and locks. By default, this would take two hours.
 */
export const ofEverySession = {
  ...ofReading,
  tcp_keepalives_idle: '30',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
};

/** The statements that give a connection these settings, for a driver whose settings a pooler may refuse at the start. */
export const setEverySession = Object.entries({ ...ofEveryClient, ...ofEverySession })
  .map(([name, value]) => `set ${name} = '${value}'`)
  .join('; ');
