// Encrypts secrets that the service must be able to read again. The key is outside the database (sealing/secrets.ts).

/** `context` identifies the secret, so that a secret that was sealed for one person or purpose can't be opened for another. */
export type Sealer = {
  /** Returns the sealed secret. Throws a Fault if the key is missing on this server. */
  seal(context: string, secret: Uint8Array): Promise<Buffer>;
  /** Returns the secret, or undefined if it was sealed with a lost key or for another context. Throws a Fault like `seal`. */
  open(context: string, sealed: Buffer): Promise<Buffer | undefined>;
};
