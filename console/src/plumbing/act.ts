// What a dialog does when it is confirmed: it is busy meanwhile, and says itself what failed.
import { useState } from 'react';

/** `act(what)`: nobody waits for it. What it throws is the error until it is tried again. */
export function useAct(): { busy: boolean; error: unknown; act: (what: () => unknown) => void } {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  async function run(what: () => unknown) {
    setBusy(true);
    setError(undefined);
    try {
      await what();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  }
  return { busy, error, act: (what) => void run(what) };
}
