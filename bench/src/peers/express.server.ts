// What a Node user would write to collect answers with personal links: Express, Sequelize and zod. Each request finds the link, validates
// the answer, and stores it in a transaction. An answer can be given again, which replaces it.
// Arguments: the directory of the packages, the database URL, the port.
import { loadPackage } from './packages.ts';

type Transaction = object;
type Model<Row> = {
  findByPk(key: string, options?: object): Promise<Row | null>;
  findOne(options: { where: object }): Promise<Row | null>;
  upsert(row: Partial<Row>, options: { transaction: Transaction }): Promise<unknown>;
  create(row: Row): Promise<unknown>;
  bulkCreate(rows: Row[]): Promise<unknown>;
  belongsTo(other: Model<never>, options: object): void;
};
type SequelizePackage = {
  DataTypes: Record<'STRING' | 'INTEGER' | 'DATE' | 'TEXT', object>;
  Sequelize: new (
    url: string,
    options: object,
  ) => {
    define<Row>(name: string, fields: object, options: object): Model<Row>;
    sync(): Promise<unknown>;
    transaction(work: (transaction: Transaction) => Promise<void>): Promise<void>;
  };
};
type Parsed<T> = { success: true; data: T } | { success: false };
type Schema<T> = { optional(): Schema<T | undefined>; safeParse(value: unknown): Parsed<T> };
type Zod = {
  object<T>(fields: { [Name in keyof T]: Schema<T[Name]> }): Schema<T>;
  number(): { int(): Schema<number> };
  string(): { max(length: number): Schema<string> };
};
type Incoming = { params: { link: string }; body: unknown };
type Outgoing = { status(code: number): Outgoing; json(body: object): void; end(): void };
type Handler = (request: Incoming, response: Outgoing) => void | Promise<void>;
type Express = { json(options: object): object } & (() => {
  use(middleware: object): void;
  get(path: string, handler: Handler): void;
  post(path: string, handler: Handler): void;
  listen(port: number, host: string): void;
});

type Round = { id: number; closesAt: Date };
type Question = { id: number; roundId: number; minimum: number; maximum: number };
type Link = { token: string; roundId: number; round: Round };
type Answer = { link: string; questionId: number; value: number; comment: string | null };

const [directory = '', databaseUrl = '', port = ''] = process.argv.slice(2);
const express = loadPackage<Express>(directory, 'express');
const { z } = loadPackage<{ z: Zod }>(directory, 'zod');
const { DataTypes, Sequelize } = loadPackage<SequelizePackage>(directory, 'sequelize');

const sequelize = new Sequelize(databaseUrl, { dialect: 'postgres', logging: false, pool: { max: 10 } });
const options = { underscored: true, timestamps: false };
// Sequelize changes the object, so each field needs its own.
const whole = () => ({ type: DataTypes.INTEGER, allowNull: false });
const rounds = sequelize.define<Round>(
  'round',
  { id: { ...whole(), primaryKey: true }, closesAt: { type: DataTypes.DATE, allowNull: false } },
  options,
);
const questions = sequelize.define<Question>(
  'question',
  { id: { ...whole(), primaryKey: true }, roundId: whole(), minimum: whole(), maximum: whole() },
  options,
);
const links = sequelize.define<Link>(
  'link',
  { token: { type: DataTypes.STRING, primaryKey: true }, roundId: whole() },
  options,
);
links.belongsTo(rounds as Model<never>, { foreignKey: 'roundId' });
const answers = sequelize.define<Answer>(
  'answer',
  {
    link: { type: DataTypes.STRING, primaryKey: true, references: { model: 'links', key: 'token' } },
    questionId: { ...whole(), primaryKey: true, references: { model: 'questions', key: 'id' } },
    value: whole(),
    comment: DataTypes.TEXT,
  },
  { underscored: true }, // with the times of creation and change
);
await sequelize.sync();
await rounds.create({ id: 1, closesAt: new Date(Date.now() + 86_400_000) });
await questions.bulkCreate([1, 2, 3, 4, 5].map((id) => ({ id, roundId: 1, minimum: 1, maximum: 5 })));

const bodySchema = z.object<{ question: number; value: number; comment: string | undefined }>({
  question: z.number().int(),
  value: z.number().int(),
  comment: z.string().max(2000).optional(),
});

const app = express();
app.use(express.json({ limit: '16kb' }));
app.get('/health', (_request, response) => response.status(200).end());
app.post('/a/:link/answers', submit);
app.listen(Number(port), '127.0.0.1');

async function submit({ params, body }: Incoming, response: Outgoing): Promise<void> {
  const refuse = (status: number, error: string) => response.status(status).json({ error });
  const given = bodySchema.safeParse(body);
  if (!given.success) return refuse(400, 'The answer is invalid.');
  const { question: questionId, value, comment = null } = given.data;
  const link = await links.findByPk(params.link, { include: rounds });
  if (!link || link.round.closesAt < new Date())
    return refuse(404, 'The link is invalid or no longer works.');
  const question = await questions.findOne({ where: { id: questionId, roundId: link.roundId } });
  if (!question) return refuse(404, 'The question is not in this round.');
  if (value < question.minimum || value > question.maximum)
    return refuse(400, 'The value is not on the scale.');
  await sequelize.transaction(async (transaction) => {
    await answers.upsert({ link: link.token, questionId, value, comment }, { transaction });
  });
  response.status(204).end();
}
