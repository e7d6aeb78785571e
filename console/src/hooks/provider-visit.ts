// Visits to a sign-in provider in another tab, so that this page keeps what was typed. The tab ends at /sign-in/done, which reports back.
import type { Refusal } from '@soundings/contract/console/sign-on/refusals.ts';
import { useEffect, useRef, useState } from 'react';

const channelName = 'soundings.sign-in';

/** What the tab reports: why the visit failed, or null. */
type Report = { refusal: Refusal | null };

/** Reports the end of a visit to the page that began it. */
export function reportVisit(report: Report): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage(report);
  channel.close();
}

type Options = {
  /** Returns the address to open, which may be requested first. */
  begin: () => Promise<string>;
  /** Called when the tab has returned. */
  onReturn: (refusal: Refusal | null) => void;
};

/** Returns a function that opens a provider in another tab, whether the visit is under way, and its error. */
export function useProviderVisit({ begin, onReturn }: Options) {
  const [isAway, setIsAway] = useState(false);
  const [error, setError] = useState<unknown>();
  const returned = useRef(onReturn);
  useEffect(() => {
    returned.current = onReturn;
  });
  useEffect(() => {
    if (!isAway) return undefined;
    const channel = new BroadcastChannel(channelName);
    channel.addEventListener('message', ({ data }: MessageEvent<Report>) => {
      setIsAway(false);
      returned.current(data.refusal);
    });
    return () => channel.close();
  }, [isAway]);
  async function visit() {
    setError(undefined);
    // Opened at the click, because browsers block tabs that are opened later.
    const tab = window.open('', '_blank');
    try {
      const address = await begin();
      setIsAway(true);
      if (tab) tab.location.href = address;
      else location.assign(address);
    } catch (failure) {
      tab?.close();
      setError(failure);
    }
  }
  return { visit, isAway, error };
}
