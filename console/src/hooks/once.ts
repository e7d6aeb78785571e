// Runs the action of a button or switch that has no form or dialog, and shows any error in a toast. Until it has ended, pressing again
// does nothing: a double click never sends twice.
import { useRef, useState } from 'react';
import { useErrorToast } from './error-toast.ts';

/** `once(action)` returns immediately. `busy`: whether the action is running. */
export function useOnce(): { busy: boolean; once: (action: () => Promise<unknown>) => void } {
  const showErrorOf = useErrorToast();
  const [busy, setBusy] = useState(false);
  // The second click of a double click may come before the component has rendered.
  const isRunning = useRef(false);
  async function perform(action: () => Promise<unknown>) {
    isRunning.current = true;
    setBusy(true);
    try {
      await action();
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  }
  return {
    busy,
    once(action) {
      if (!isRunning.current) showErrorOf(perform(action));
    },
  };
}
