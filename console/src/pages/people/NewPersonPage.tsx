// The page to add a person manually.
import type { PersonFields } from '@soundings/contract/console/people.ts';
import { useNavigate } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { useData } from '../../hooks/data.ts';
import { useText } from '../../text/text.tsx';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { useForm } from '../../ui/form/Form.tsx';
import { Page } from '../../ui/page/Page.tsx';
import { Loaded, Skeleton } from '../../ui/page/States.tsx';
import { useToast } from '../../ui/floating/Toast.tsx';
import { isInvitable, newPersonOf, personValuesOf } from './person-values.ts';
import { usePeopleRefresh } from './actions.ts';
import { PersonForm } from './PersonForm.tsx';

export function NewPersonPage() {
  const t = useText();
  const response = useData('GET /users/fields');
  return (
    <Page
      title={t('people.add')}
      subtitle={t('people.addText')}
      crumbs={[{ label: t('people.title'), to: '/people' }]}
    >
      <Loaded response={response} skeleton={<Skeleton rows={10} />}>
        {(fields) => <NewPerson fields={fields} />}
      </Loaded>
    </Page>
  );
}

function NewPerson({ fields }: { fields: PersonFields }) {
  const t = useText();
  const toast = useToast();
  const navigate = useNavigate();
  const refresh = usePeopleRefresh();
  const attributes = fields.attributes.map(({ name }) => name);
  const form = useForm({
    initial: { ...personValuesOf(undefined, attributes), invite: true },
    submit: (values) => {
      const invite = isInvitable(values, fields) && values.invite;
      return api('POST /users', { body: { ...newPersonOf(values, attributes), invite } });
    },
    onDone: async ({ id }, values) => {
      const { firstName, lastName, invite, email } = values;
      await refresh();
      await navigate({ to: `/people/${id}` });
      const name = `${firstName} ${lastName}`;
      const isInvited = isInvitable(values, fields) && invite;
      toast({ text: t(isInvited ? 'people.addedAndInvited' : 'people.addedPerson', { name, email }) });
    },
  });
  return (
    <PersonForm
      form={form}
      fields={fields}
      actions={
        <>
          <Button type="submit" kind="primary" busy={form.busy}>
            {t('people.add')}
          </Button>
          <LinkButton to="/people">{t('action.cancel')}</LinkButton>
        </>
      }
    />
  );
}
