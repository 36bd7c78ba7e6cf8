// SPDX-License-Identifier: MIT
// The vocabulary: kinds of tokens, and those with a part of their own.
import {byId, bytesText, digits, element, safe} from './base.js';
import {data} from './model.js';
import {fact} from './summary.js';

const pair = (name, ...value) => [element('dt', {}, name), element('dd', {}, ...value)];

export const showVocabulary = () => {
  if (!data.vocabulary) return;
  const {statistics, special_tokens: special} = data.vocabulary;
  const kinds = Object.entries(statistics.types).filter(([, count]) => count > 0);
  byId('vocabulary-facts').append(
    fact('Tokens', digits(statistics.tokens), `${bytesText(statistics.text_bytes)} of text`),
    fact('Family', statistics.family.toUpperCase(), statistics.pre ? `pre ${statistics.pre}` : null),
    ...kinds.map(([name, count]) => fact(`of kind ${name}`, digits(count))),
    fact('Repeated texts', digits(statistics.repeated.length), null, statistics.repeated.length > 0),
    fact('Bytes without a token', digits(statistics.missing_bytes.length)));
  byId('special-tokens').append(
    ...special.flatMap(({name, id, text}) => pair(name, safe(text), ` ${digits(id)}`)));
};
