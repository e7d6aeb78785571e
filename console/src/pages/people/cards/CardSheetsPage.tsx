// The cards that were just created, as sheets to print and cut. Each card is in the language of its person.
import type { CardTexts, PrintedCard } from '@soundings/contract/console/cards.ts';
import { useNavigate } from '@tanstack/react-router';
import { Check, Printer } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useText } from '../../../text/text.tsx';
import { Button, LinkButton } from '../../../ui/Button.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import css from './sheets.module.css';
import { type CardSheet, keepSheet, keptSheet } from './printing-sheet.ts';

/** How many cards are on a sheet of paper. */
const perSheet = 8;

export function CardSheetsPage() {
  const t = useText();
  const navigate = useNavigate();
  const [sheet] = useState(keptSheet);
  useEffect(() => () => keepSheet(undefined), []);
  if (!sheet)
    return (
      <Page title={t('cards.sheetsTitle')}>
        <Empty
          icon={Printer}
          title={t('cards.gone')}
          text={t('cards.goneText')}
          action={<LinkButton to="/cards">{t('cards.back')}</LinkButton>}
        />
      </Page>
    );
  return (
    <Page
      title={t('cards.sheetsTitle')}
      subtitle={t('cards.sheetsSubtitle', {
        cards: sheet.cards.length,
        sheets: Math.ceil(sheet.cards.length / perSheet),
      })}
      actions={
        <>
          <Button icon={Check} onClick={() => void navigate({ to: '/cards' })}>
            {t('cards.done')}
          </Button>
          <Button kind="primary" icon={Printer} onClick={() => print()}>
            {t('cards.printNow')}
          </Button>
        </>
      }
    >
      <div className={css['notice']}>
        <Notice tone="warn" title={t('cards.once')}>
          {t('cards.onceText')}
        </Notice>
      </div>
      <Sheets sheet={sheet} />
    </Page>
  );
}

function Sheets({ sheet: { cards, texts } }: { sheet: CardSheet }) {
  const t = useText();
  const starts = Array.from({ length: Math.ceil(cards.length / perSheet) }, (_, i) => i * perSheet);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
    <section className={css['sheets']} tabIndex={0} aria-label={t('cards.sheetsTitle')}>
      {starts.map((start) => (
        <div key={start} className={css['sheet']}>
          {cards.slice(start, start + perSheet).map((card) => (
            <Card key={card.code} card={card} texts={texts[card.language]!} />
          ))}
        </div>
      ))}
    </section>
  );
}

function Card({ card: { name, group, language, code, qr }, texts }: { card: PrintedCard; texts: CardTexts }) {
  const t = useText();
  const side = qr.size + 8; // with the margin that cameras need
  return (
    <article className={css['card']} lang={language} dir={texts.direction} aria-label={name}>
      <header className={css['head']}>
        <b>{name}</b>
        <span>{group}</span>
      </header>
      <div className={css['middle']}>
        <svg
          className={css['qr']}
          viewBox={`-4 -4 ${side} ${side}`}
          role="img"
          aria-label={t('cards.qr')}
          shapeRendering="crispEdges"
        >
          <path d={qr.path} fill="#000" />
        </svg>
        <div className={css['how']}>
          <p className={css['title']}>{texts.title}</p>
          <p>{texts.scan}</p>
          <p>{texts.enter}</p>
        </div>
      </div>
      <p className={css['code']} dir="ltr">
        {code}
      </p>
      <p className={css['foot']}>
        {texts.again} {texts.keep} {texts.privacy}
      </p>
    </article>
  );
}
