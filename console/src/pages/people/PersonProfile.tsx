// The profile of a person, section by section.
import type { Person, PersonFields, PersonGroup } from '@soundings/contract/console/people.ts';
import { type MembershipKind, membershipKinds } from '@soundings/contract/people/memberships.ts';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useLanguageNames } from '../../text/languages.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { DescriptionList } from '../../ui/page/DescriptionList.tsx';
import { Locked } from '../../ui/Locked.tsx';
import { Section } from '../../ui/page/Section.tsx';
import { attributeOf, isKindManaged, isManagedField } from './person-values.ts';
import type { PersonAction } from './actions.ts';
import { PersonRuns } from './PersonRuns.tsx';
import css from './people.module.css';

type ProfileProps = { person: Person; fields: PersonFields; onDo: (what: PersonAction) => void };

export function PersonProfile({ person, fields, onDo }: ProfileProps) {
  return (
    <>
      <Details person={person} fields={fields} />
      <Groups person={person} />
      {fields.attributes.length > 0 && <Attributes person={person} fields={fields} />}
      <SigningIn person={person} onDo={onDo} />
      <PersonRuns person={person} />
    </>
  );
}

const Nothing = ({ text }: { text: string }) => <span className={css['none']}>{text}</span>;

type DetailsProps = Omit<ProfileProps, 'onDo'> & {
  /** Shows only fields that the HR system manages, because the form next to it has the others. */
  isOnlyManaged?: boolean;
};

export function Details({ person, fields, isOnlyManaged = false }: DetailsProps) {
  const t = useText();
  const { day, time } = useFormat();
  const { nameOf } = useLanguageNames();
  const { email, phone, externalId, mailRejected, language, timezone } = person;
  const fact = (name: string, value: ReactNode): ReactNode => (
    <span className={css['fact']}>
      {value}
      {person.managed && isManagedField(name) && (
        <Locked reason={t(person.byDirectory ? 'people.lockedByDirectory' : 'people.lockedReason')} />
      )}
    </span>
  );
  const ownOr = (value: string | null, others: string) =>
    value ?? <Nothing text={t('people.accountsOwn', { value: others })} />;
  const refusal = mailRejected && (
    <span className={css['fact']}>
      <Badge tone="warn">{t(mailRejected.isSms ? 'people.refusedSms' : 'people.refused')}</Badge>
      <span>
        {mailRejected.reason} ({time(mailRejected.at)})
      </span>
    </span>
  );
  return (
    <Section title={t('people.details')}>
      <DescriptionList
        items={[
          [t('people.firstName'), fact('firstName', person.firstName)],
          [t('people.lastName'), fact('lastName', person.lastName)],
          [t('people.email'), fact('email', email ?? <Nothing text={t('people.noEmail')} />)],
          [t(mailRejected?.isSms ? 'people.refusedSmsLabel' : 'people.refusedLabel'), refusal ?? undefined],
          [t('people.phone'), fact('phone', phone ?? <Nothing text={t('people.noValue')} />)],
          [t('people.role'), isOnlyManaged ? undefined : t(`role.${person.role}`)],
          [
            t('people.language'),
            isOnlyManaged
              ? undefined
              : ownOr(language === null ? null : nameOf(language), nameOf(fields.language)),
          ],
          [t('people.timezone'), fact('timezone', ownOr(timezone, fields.timezone))],
          [
            t('people.externalId'),
            fact(
              'externalId',
              externalId === null ? (
                <Nothing text={t('people.noValue')} />
              ) : (
                <code className={css['breaking']}>{externalId}</code>
              ),
            ),
          ],
          [
            t('people.surveyEmails'),
            person.surveyEmails === 'all' ? undefined : t(`people.emails.${person.surveyEmails}`),
          ],
          [t('people.added'), day(person.createdAt)],
        ]}
      />
    </Section>
  );
}

function Groups({ person }: { person: Person }) {
  const t = useText();
  const kinds = membershipKinds.filter((kind) => kind === 'memberOf' || person.memberships[kind].length > 0);
  const groupsOf = (kind: MembershipKind) =>
    person.memberships[kind].length === 0 ? (
      <Nothing text={t('people.noGroup')} />
    ) : (
      <ul className={css['groups']}>
        {person.memberships[kind].map((group) => (
          <li key={group.id}>
            <GroupWay group={group} />
            {isKindManaged(person, kind, group.managed) && (
              <Locked reason={t(person.byDirectory ? 'people.lockedByDirectory' : 'people.lockedReason')} />
            )}
          </li>
        ))}
      </ul>
    );
  return (
    <Section title={t('people.groups')}>
      <DescriptionList items={kinds.map((kind) => [t(`change.${kind}`), groupsOf(kind)])} />
    </Section>
  );
}

const GroupWay = ({ group: { id, name, path } }: { group: PersonGroup }) => (
  <span>
    {path.length > 0 && <span className={css['way']}>{path.join(' / ')} / </span>}
    <Link to={`/groups/${id}`}>{name}</Link>
  </span>
);

function Attributes({ person, fields }: Omit<ProfileProps, 'onDo'>) {
  const t = useText();
  const nothing = <Nothing text={t('people.noValue')} />;
  return (
    <Section title={t('people.attributes')}>
      <DescriptionList
        items={fields.attributes.map(({ name }) => [name, attributeOf(person, name) ?? nothing])}
      />
    </Section>
  );
}

function SigningIn({ person, onDo }: Omit<ProfileProps, 'fields'>) {
  const t = useText();
  const { hasPassword, hasTwoFactor, sessions, invitation } = person.signIn;
  const { time } = useFormat();
  const canLink = person.active && person.email !== null;
  return (
    <Section
      title={t('people.signIn')}
      actions={
        <>
          {hasTwoFactor && <Button onClick={() => onDo('twoFactor')}>{t('people.turnOffTwoFactor')}</Button>}
          {sessions > 0 && <Button onClick={() => onDo('sessions')}>{t('people.endSessions')}</Button>}
          {canLink && (
            <Button onClick={() => onDo('link')}>
              {t(hasPassword ? 'people.link' : invitation ? 'people.remindPerson' : 'people.invitePerson')}
            </Button>
          )}
        </>
      }
    >
      <DescriptionList
        items={[
          [t('people.password'), t(hasPassword ? 'people.passwordSet' : 'people.passwordNone')],
          [
            t('people.invitation'),
            invitation
              ? t(`people.invitationState.${invitation.isExpired ? 'expired' : invitation.state}`, {
                  time: time(invitation.at),
                })
              : undefined,
          ],
          [t('people.twoFactor'), t(hasTwoFactor ? 'people.twoFactorOn' : 'people.twoFactorOff')],
          [
            t('people.sessions'),
            sessions === 0 ? t('people.noSessions') : t('people.sessionCount', { count: sessions }),
          ],
        ]}
      />
    </Section>
  );
}
