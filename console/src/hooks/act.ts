// Runs the action of a dialog: the dialog is busy in the meantime, and shows any error itself.
import { useState } from 'react';

/** `act(what)` returns immediately. An error is kept in `error` until the next try. */
export function useAction(): { busy: boolean; error: unknown; act: (what: () => unknown) => void } {
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
