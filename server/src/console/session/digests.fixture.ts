// Password digests that are counted and take no time, for tests that sign in often. base/crypto/secrets.test.ts tests the real
// digests.

/** `digests`: how many passwords were compared with a digest. `meanwhile`: runs during each comparison. */
export const counted = { digests: 0, meanwhile: async (): Promise<void> => {} };

/** Returns the exports of base/crypto/secrets.ts with these digests. Each test file replaces the module itself, by `vi.mock`. */
export const withCountedDigests = (original: object): object => ({
  ...original,
  hashPassword: async (password: string) => `digest of ${password}`,
  isPassword: async (password: string, hash: string) => {
    counted.digests++;
    await counted.meanwhile();
    return hash === `digest of ${password}`;
  },
});
