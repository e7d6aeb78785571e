// The page to add the first few people manually: five rows, saved together.
import { useNavigate } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { useRefresh } from '../../hooks/data.ts';
import { useText } from '../../text/text.tsx';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { TextField } from '../../ui/form/Field.tsx';
import { FieldRow, Form, useForm } from '../../ui/form/Form.tsx';
import { GroupCombobox } from '../../ui/form/group-combobox/GroupCombobox.tsx';
import { Page } from '../../ui/page/Page.tsx';
import { Section } from '../../ui/page/Section.tsx';
import { useToast } from '../../ui/floating/Toast.tsx';
import { usePeopleRefresh } from './actions.ts';
import { emptyRows, rowKeys, peopleOfRows, type PeopleRows } from './people-rows.ts';

export function NewPeoplePage() {
  const t = useText();
  const toast = useToast();
  const navigate = useNavigate();
  const refreshPeople = usePeopleRefresh();
  const refresh = useRefresh();
  const form = useForm<PeopleRows, { ids: number[] }>({
    initial: emptyRows,
    submit: (values) => api('POST /users/several', { body: { people: peopleOfRows(values) } }),
    onDone: async ({ ids }) => {
      await Promise.all([refreshPeople(), refresh('GET /start')]);
      await navigate({ to: '/people' });
      toast({ text: t('people.severalAdded', { count: ids.length }) });
    },
  });
  return (
    <Page
      title={t('people.addSeveral')}
      subtitle={t('people.addSeveralText')}
      crumbs={[{ label: t('people.title'), to: '/people' }]}
    >
      <Form
        form={form}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              {t('people.addSeveral')}
            </Button>
            <LinkButton to="/people">{t('action.cancel')}</LinkButton>
          </>
        }
      >
        {rowKeys.map((keys, i) => (
          <Section key={keys.firstName} title={t('people.row', { number: i + 1 })}>
            <FieldRow>
              <TextField
                {...form.field(keys.firstName)}
                label={t('people.firstName')}
                autoFocus={i === 0}
                autoComplete="off"
              />
              <TextField {...form.field(keys.lastName)} label={t('people.lastName')} autoComplete="off" />
            </FieldRow>
            <FieldRow>
              <TextField
                {...form.field(keys.email)}
                label={t('people.email')}
                optional
                type="email"
                autoComplete="off"
              />
              <GroupCombobox {...form.field(keys.groupId)} label={t('people.group')} optional />
            </FieldRow>
          </Section>
        ))}
      </Form>
    </Page>
  );
}
