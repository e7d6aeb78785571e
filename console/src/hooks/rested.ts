// A value that follows its input only once it rests, so that typing doesn't send a request for each letter.
import { useEffect, useState } from 'react';

/** Returns the value as it was when it last did not change for 300 ms. Values are compared as JSON. */
export function useRested<T>(value: T): T {
  const text = JSON.stringify(value);
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), 300);
    return () => clearTimeout(timer);
  }, [text]);
  return JSON.parse(rested) as T;
}
