// A text to copy: an address, a token, a fingerprint. Shows a message if the browser refuses to copy it.
import { Check, Copy as CopyIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useText } from '../text/text.tsx';
import { IconButton } from './Button.tsx';
import css from './Copy.module.css';
import { useToast } from './floating/Toast.tsx';

/** Copies a text to the clipboard, even on insecure pages, where browsers offer no clipboard API. Throws if refused. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  const opened = document.activeElement as HTMLElement | null;
  (opened?.closest('[role="dialog"]') ?? document.body).append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  opened?.focus();
  if (!isDone) throw new Error('The browser does not copy.');
}

/** Returns a function that copies a text, and `isCopied`, which is true for a moment afterwards. */
export function useCopying(text: string): { isCopied: boolean; copy: () => void } {
  const t = useText();
  const toast = useToast();
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setIsCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () =>
    void copyText(text).then(
      () => setIsCopied(true),
      () => toast({ tone: 'bad', text: t('action.copyRefused') }),
    );
  return { isCopied, copy };
}

/** `label`: says what is copied, for screen readers. */
export function Copy({ text, label }: { text: string; label?: string }) {
  const t = useText();
  const { isCopied, copy } = useCopying(text);
  const name = label === undefined ? t('action.copy') : `${t('action.copy')}: ${label}`;
  return (
    <span className={css['copy']}>
      <code className={css['text']}>{text}</code>
      <IconButton
        icon={isCopied ? Check : CopyIcon}
        label={isCopied ? t('action.copied') : name}
        onClick={copy}
      />
      <span className="visually-hidden" role="status">
        {isCopied && t('action.copied')}
      </span>
    </span>
  );
}
