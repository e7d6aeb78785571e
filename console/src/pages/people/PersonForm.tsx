// The form for a person. For managed people it has only the fields that the HR system does not manage.
import type { Person, PersonFields, PersonGroup } from '@soundings/contract/console/people.ts';
import {
  maxAttributeLength,
  maxEmailLength,
  maxExternalIdLength,
  maxNameLength,
} from '@soundings/contract/limits.ts';
import { membershipKinds } from '@soundings/contract/people/memberships.ts';
import { roles } from '@soundings/contract/people/roles.ts';
import type { ReactNode } from 'react';
import { useLanguageNames } from '../../text/languages.ts';
import { useText } from '../../text/text.tsx';
import { CheckboxField, SwitchField, TextField } from '../../ui/form/Field.tsx';
import { SelectField } from '../../ui/form/Select.tsx';
import { FieldRow, Form, type FormState } from '../../ui/form/Form.tsx';
import { GroupCombobox } from '../../ui/form/group-combobox/GroupCombobox.tsx';
import { Locked } from '../../ui/Locked.tsx';
import { Section } from '../../ui/page/Section.tsx';
import { TimezoneField } from '../session/TimezoneField.tsx';
import { Details } from './PersonProfile.tsx';
import {
  attributeField,
  isChoosable,
  isInvitable,
  isKindManaged,
  type PersonValues,
} from './person-values.ts';
import css from './people.module.css';
import { LanguageField } from '../session/LanguageField.tsx';

type PersonFormProps = {
  form: FormState<PersonValues>;
  fields: PersonFields;
  /** The person to change; undefined: a new one. */
  person?: Person;
  isOwnAccount?: boolean;
  actions: ReactNode;
};
type PartProps = Omit<PersonFormProps, 'actions'>;

export function PersonForm({ actions, ...part }: PersonFormProps) {
  return (
    <Form form={part.form} actions={<div className={css['foot']}>{actions}</div>}>
      <div>
        {part.person?.managed ? (
          <Details person={part.person} fields={part.fields} isOnlyManaged />
        ) : (
          <Who {...part} />
        )}
        <Settings {...part} />
        <Memberships {...part} />
        {part.fields.attributes.length > 0 && <Attributes {...part} />}
      </div>
    </Form>
  );
}

function Who({ form, person, isOwnAccount }: PartProps) {
  const t = useText();
  return (
    <Section title={t('people.details')}>
      <div className={css['fields']}>
        <FieldRow>
          <TextField
            label={t('people.firstName')}
            {...form.field('firstName')}
            required
            autoFocus
            autoComplete="off"
            maxLength={maxNameLength}
          />
          <TextField
            label={t('people.lastName')}
            {...form.field('lastName')}
            required
            autoComplete="off"
            maxLength={maxNameLength}
          />
        </FieldRow>
        <FieldRow>
          <TextField
            label={t('people.email')}
            hint={t('people.emailHint')}
            {...form.field('email')}
            optional
            type="email"
            autoComplete="off"
            maxLength={maxEmailLength}
          />
          <TextField
            label={t('people.phone')}
            {...form.field('phone')}
            optional
            type="tel"
            autoComplete="off"
            placeholder="+46 70 123 45 67"
            maxLength={60}
          />
        </FieldRow>
        <TextField
          label={t('people.externalId')}
          hint={t('people.externalIdHint')}
          {...form.field('externalId')}
          optional
          mono
          autoComplete="off"
          maxLength={maxExternalIdLength}
        />
        {person && !isOwnAccount && (
          <SwitchField label={t('people.active')} hint={t('people.activeHint')} {...form.field('active')} />
        )}
      </div>
    </Section>
  );
}

function Settings({ form, fields, person, isOwnAccount }: PartProps) {
  const t = useText();
  const { nameOf } = useLanguageNames();
  const isManaged = person?.managed === true;
  const isNewAdministrator =
    person !== undefined && person.role !== 'Administrator' && form.values.role === 'Administrator';
  const newHint = fields.canMail
    ? 'people.roleHintNewAdministrator'
    : 'people.roleHintNewAdministratorNoMail';
  const roleHint = isNewAdministrator ? newHint : isManaged ? 'people.roleHintManaged' : 'people.roleHint';
  return (
    <Section title={t('people.settings')}>
      <div className={css['fields']}>
        <SelectField
          label={t('people.role')}
          hint={t(roleHint)}
          {...form.field('role')}
          disabled={isOwnAccount === true}
          options={roles.map((role) => ({
            value: role,
            label: t(`role.${role}`),
            hint: t(`people.roleText.${role}`),
          }))}
        />
        {isChoosable(form.values, fields, person) && (
          <Invite form={form} canSend={isInvitable(form.values, fields, person)} />
        )}
        <FieldRow>
          <LanguageField
            label={t('people.language')}
            {...form.field('language')}
            {...(isManaged && { hint: t('people.languageHintManaged') })}
            first={t('people.accountsOwn', { value: nameOf(fields.language) })}
            inherited={fields.language}
          />
          {!isManaged && (
            <TimezoneField
              label={t('people.timezone')}
              hint={t('people.timezoneHint', { value: fields.timezone })}
              placeholder={fields.timezone}
              {...form.field('timezone')}
            />
          )}
        </FieldRow>
      </div>
    </Section>
  );
}

function Invite({ form, canSend }: { form: PartProps['form']; canSend: boolean }) {
  const t = useText();
  const { value, ...field } = form.field('invite');
  return (
    <CheckboxField
      label={t('people.invite')}
      hint={t(canSend ? 'people.inviteHint' : 'people.inviteHintNoEmail')}
      {...field}
      value={canSend && value}
      disabled={!canSend}
    />
  );
}

function Memberships({ form, person }: PartProps) {
  const t = useText();
  const isManaged = person?.managed === true;
  return (
    <Section title={t('people.groups')} {...(isManaged && { description: t('people.groupsHintManaged') })}>
      <div className={css['fields']}>
        {membershipKinds.map((kind) => {
          const isLocked = isKindManaged(person, kind, true);
          const { name: _name, error, ...field } = form.field(`memberships/${kind}`);
          return (
            <div key={kind} className={css['kind']}>
              <GroupCombobox
                multiple
                label={t(`change.${kind}`)}
                hint={t(isLocked ? 'people.kindLocked' : `people.kindText.${kind}`)}
                {...field}
                {...(error !== undefined && { error })}
                placeholder={t('people.addGroup')}
                exclude={({ managed }) => isLocked && managed}
              />
              {isLocked && <ManagedGroups groups={person?.memberships[kind] ?? []} />}
            </div>
          );
        })}
      </div>
    </Section>
  );
}

/** The memberships that the HR system manages and that can't be changed here. */
function ManagedGroups({ groups }: { groups: PersonGroup[] }) {
  const t = useText();
  const managedGroups = groups.filter(({ managed }) => managed);
  if (managedGroups.length === 0) return null;
  return (
    <ul className={css['groups']}>
      {managedGroups.map(({ id, name, path }) => (
        <li key={id}>
          <span className={css['way']}>{[...path, name].join(' / ')}</span>
          <Locked reason={t('people.lockedReason')} />
        </li>
      ))}
    </ul>
  );
}

function Attributes({ form, fields, person }: PartProps) {
  const t = useText();
  return (
    <Section
      title={t('people.attributes')}
      {...(person?.managed && { description: t('people.attributesHintManaged') })}
    >
      <div className={css['fields']}>
        {fields.attributes.map(({ name, allowedValues }) => {
          const { value, ...field } = form.field(attributeField(name));
          if (!allowedValues)
            return (
              <TextField
                key={name}
                label={name}
                value={value ?? ''}
                {...field}
                autoComplete="off"
                maxLength={maxAttributeLength}
              />
            );
          // Keeps a value that is no longer allowed until the user chooses another.
          const values = [...new Set([...allowedValues, ...(value ? [value] : [])])];
          return (
            <SelectField
              key={name}
              label={name}
              value={value ?? ''}
              {...field}
              options={[
                { value: '', label: t('people.noValue') },
                ...values.map((each) => ({ value: each, label: each })),
              ]}
            />
          );
        })}
      </div>
    </Section>
  );
}
