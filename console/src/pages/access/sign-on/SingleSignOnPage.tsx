// Single sign-on: the company's sign-in providers, what to enter there, and whether signing in with them is required.
import type { SingleSignOn } from '@soundings/contract/console/sign-on/single-sign-on.ts';
import { Fingerprint, Plus } from 'lucide-react';
import { useState } from 'react';
import { useData } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Copy } from '../../../ui/Copy.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { DescriptionList } from '../../../ui/page/DescriptionList.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { NewProvider } from './NewProvider.tsx';
import { Provider } from './Provider.tsx';
import { RequiredSignOn } from './RequiredSignOn.tsx';

export function SingleSignOnPage() {
  const t = useText();
  const response = useData('GET /sso');
  const [isAdding, setIsAdding] = useState(false);
  const add = (
    <Button kind="primary" icon={Plus} onClick={() => setIsAdding(true)}>
      {t('signOn.add')}
    </Button>
  );
  const hasProviders = (response.data?.providers.length ?? 0) > 0;
  return (
    <Page
      title={t('signOn.title')}
      subtitle={t('signOn.subtitle')}
      narrow
      waits={!response.data}
      actions={hasProviders && add}
    >
      <Loaded response={response}>
        {(data) =>
          hasProviders ? (
            <Providers {...data} />
          ) : (
            <Empty icon={Fingerprint} title={t('signOn.empty')} text={t('signOn.emptyText')} action={add} />
          )
        }
      </Loaded>
      {isAdding && <NewProvider onClose={() => setIsAdding(false)} />}
    </Page>
  );
}

function Providers(data: SingleSignOn) {
  const t = useText();
  return (
    <>
      {data.providers.map((provider) => (
        <Provider key={provider.id} provider={provider} />
      ))}
      <Section title={t('signOn.page')} description={t('signOn.pageText')}>
        <DescriptionList
          items={[
            [
              t('signOn.address'),
              <Copy key="address" text={data.signInAddress} label={t('signOn.address')} />,
            ],
          ]}
        />
      </Section>
      <RequiredSignOn key={String(data.required)} {...data} />
    </>
  );
}
