// Over which channels an installation can send messages to people.

/** `mail`: a mail server is configured; `sms`: a gateway for text messages is. */
export type Channels = { mail: boolean; sms: boolean };

/** Every channel, for what doesn't depend on what is configured. */
export const allChannels: Channels = { mail: true, sms: true };

/** Returns the channels that the settings configure. */
export const channelsOf = ({ smtpUrl, sms }: { smtpUrl: unknown; sms: unknown }): Channels => ({
  mail: smtpUrl !== undefined,
  sms: sms !== undefined,
});
