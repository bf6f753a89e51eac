// Values between tedious and canonical text.
import { TYPES } from 'tedious';

// cell is a column's value as an answer holds it.
export function cell(value, metadata) {
  if (value === null || value === undefined) return null;
  const { name } = metadata.type;
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (Buffer.isBuffer(value)) return `0x${value.toString('hex').toUpperCase()}`;
  if (value instanceof Date) return moment(value, name, metadata);
  if (typeof value === 'number') return number(value, name, metadata);
  return String(value);
}

function number(value, name, metadata) {
  if (/^(Float|FloatN)$/.test(name)) return { [metadata.dataLength === 4 ? 'f32' : 'f64']: String(value) };
  if (name === 'Real') return { f32: String(value) };
  return String(value);
}

function moment(value, name, metadata) {
  const text = value.toISOString().replace(/^\+0+/, '');
  const date = text.slice(0, 10);
  const scale = /^(DateTime|DateTimeN)$/.test(name) ? 3 : metadata.scale ?? 0;
  const small = name === 'SmallDateTime' || (name === 'DateTimeN' && metadata.dataLength === 4);
  let time = text.slice(11, 19);
  if (scale > 0 && !small) time += `.${fraction(value).slice(0, scale)}`;
  switch (name) {
    case 'Date': return date;
    case 'Time': return time;
    case 'DateTimeOffset': return `${date} ${time} +00:00`;
    default: return `${date} ${time}`;
  }
}

// fraction is that of the second, in seven digits: tedious keeps what a Date
// cannot hold beside it.
function fraction(value) {
  const below = Math.round((value.nanosecondsDelta ?? 0) * 1e7);
  return String(value.getUTCMilliseconds()).padStart(3, '0') + String(below).padStart(4, '0');
}

// tediousType is a T-SQL type as tedious names it, and its options.
export function tediousType(type) {
  const [, name, size, scale] = /^(\w+)(?:\((\w+)(?:,(\d+))?\))?$/.exec(type);
  const length = size === 'max' ? Infinity : Number(size);
  switch (name) {
    case 'bit': return [TYPES.Bit];
    case 'tinyint': return [TYPES.TinyInt];
    case 'smallint': return [TYPES.SmallInt];
    case 'int': return [TYPES.Int];
    case 'bigint': return [TYPES.BigInt];
    case 'decimal': return [TYPES.Decimal, { precision: Number(size), scale: Number(scale) }];
    case 'numeric': return [TYPES.Numeric, { precision: Number(size), scale: Number(scale) }];
    case 'money': return [TYPES.Money];
    case 'smallmoney': return [TYPES.SmallMoney];
    case 'float': return [TYPES.Float];
    case 'real': return [TYPES.Real];
    case 'date': return [TYPES.Date];
    case 'time': return [TYPES.Time, { scale: Number(size) }];
    case 'smalldatetime': return [TYPES.SmallDateTime];
    case 'datetime': return [TYPES.DateTime];
    case 'datetime2': return [TYPES.DateTime2, { scale: Number(size) }];
    case 'datetimeoffset': return [TYPES.DateTimeOffset, { scale: Number(size) }];
    case 'char': return [TYPES.Char, { length }];
    case 'varchar': return [TYPES.VarChar, { length }];
    case 'text': return [TYPES.VarChar, { length: Infinity }];
    case 'nchar': return [TYPES.NChar, { length }];
    case 'nvarchar': return [TYPES.NVarChar, { length }];
    case 'ntext': return [TYPES.NVarChar, { length: Infinity }];
    case 'binary': return [TYPES.Binary, { length }];
    case 'varbinary': return [TYPES.VarBinary, { length }];
    case 'image': return [TYPES.VarBinary, { length: Infinity }];
    case 'uniqueidentifier': return [TYPES.UniqueIdentifier];
    case 'xml': return [TYPES.NVarChar, { length: Infinity }];
    default: throw new Error(`type ${type}`);
  }
}

// toValue is canonical text as tedious takes it.
export function toValue(type, text) {
  if (text === null) return null;
  switch (type.split('(')[0]) {
    case 'bit': return text === '1';
    case 'tinyint': case 'smallint': case 'int':
    case 'decimal': case 'numeric': case 'money': case 'smallmoney':
    case 'float': case 'real':
      return Number(text);
    case 'bigint': return text;
    case 'date': return new Date(`${text}T00:00:00Z`);
    case 'time': return precise('1970-01-01', text, 'Z');
    case 'smalldatetime': case 'datetime': case 'datetime2': {
      const [date, time] = text.split(' ');
      return precise(date, time, 'Z');
    }
    case 'datetimeoffset': {
      const [date, time, offset] = text.split(' ');
      return precise(date, time, offset);
    }
    case 'binary': case 'varbinary': case 'image':
      return Buffer.from(text.slice(2), 'hex');
    default: return text;
  }
}

function precise(date, time, offset) {
  const [seconds, digits = ''] = time.split('.');
  const all = digits.padEnd(7, '0');
  const value = new Date(`${date}T${seconds}.${all.slice(0, 3)}${offset}`);
  value.nanosecondDelta = Number(all.slice(3)) / 1e7; // what parameters are read from
  return value;
}
