// Printed cards for people without email, and the kiosks on which they answer.
import type { Cards } from '@soundings/contract/console/cards.ts';
import { Printer } from 'lucide-react';
import { useState } from 'react';
import { useData } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import { DescriptionList } from '../../../ui/page/DescriptionList.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { KioskSection } from './KioskSection.tsx';
import { PrintDialog } from './PrintDialog.tsx';
import { RemoveDialog } from './RemoveDialog.tsx';

export function CardsPage() {
  const t = useText();
  const response = useData('GET /cards');
  return (
    <Page title={t('cards.title')} waits={!response.data} subtitle={t('cards.subtitle')}>
      <Loaded response={response}>
        {(read) => (
          <>
            <CardSection cards={read} />
            <KioskSection kiosks={read.kiosks} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function CardSection({ cards: { people, withCard, resting, hasMail } }: { cards: Cards }) {
  const t = useText();
  const { number } = useFormat();
  const [doing, setDoing] = useState<'print' | 'remove'>();
  const close = () => setDoing(undefined);
  return (
    <Section
      title={t('cards.cards')}
      description={t('cards.text')}
      actions={
        <>
          {withCard + resting > 0 && (
            <Button kind="quiet" onClick={() => setDoing('remove')}>
              {t('cards.remove')}
            </Button>
          )}
          <Button kind="primary" icon={Printer} onClick={() => setDoing('print')}>
            {t('cards.print')}
          </Button>
        </>
      }
    >
      <DescriptionList
        items={[
          [t(hasMail ? 'cards.canHave' : 'cards.canHaveNoMail'), number(people)],
          [t('cards.have'), number(withCard)],
          [t('cards.resting'), resting === 0 ? undefined : number(resting)],
        ]}
      />
      {doing === 'print' && <PrintDialog onClose={close} />}
      {doing === 'remove' && <RemoveDialog onClose={close} />}
    </Section>
  );
}
