// Refetches lists while something in them is in progress.
import { useEffect } from 'react';
import { useRefresh } from '../../hooks/data.ts';

/** Refetches every two seconds while something is in progress. */
export function useLiveRuns(isUnderWay: boolean): void {
  const refresh = useRefresh();
  useEffect(() => {
    if (!isUnderWay) return undefined;
    const timer = setInterval(() => void refresh('GET /runs', 'GET /runs/{runId}'), 2000);
    return () => {
      clearInterval(timer);
      void refresh('GET /session', 'GET /runs/{runId}/changes');
    };
  }, [isUnderWay, refresh]);
}

/** Refetches every two seconds while files are in progress. */
export function useLiveFiles(isUnderWay: boolean): void {
  const refresh = useRefresh();
  useEffect(() => {
    if (!isUnderWay) return undefined;
    const request = () => void refresh('GET /files', 'GET /files/{fileId}');
    const timer = setInterval(request, 2000);
    return () => {
      clearInterval(timer);
      void refresh('GET /session', 'GET /runs');
    };
  }, [isUnderWay, refresh]);
}
