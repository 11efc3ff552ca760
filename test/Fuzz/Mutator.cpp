// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokens, what stands between brackets and commas, and changes of both.

#include "Mutator.h"
#include "llvm/ADT/StringExtras.h"

using namespace attune::fuzz;
using llvm::StringRef;

namespace {
/// Tokens from `begin` up to, and not including, `end`.
struct Range {
  size_t begin;
  size_t end;
};
} // namespace

static bool isWordChar(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
}

/// The length of the token that a text begins with.
static size_t getLength(StringRef text, bool inShape) {
  auto wordEnd = [&](size_t from) {
    while (from < text.size() && isWordChar(text[from]))
      ++from;
    return from;
  };
  char c = text.front();
  if (c == '"') {
    size_t end = 1;
    while (end < text.size() && text[end] != '"' && text[end] != '\n')
      end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  if (c == '%' || c == '@' || c == '!' || c == '#' || c == '^')
    return wordEnd(1);
  if (inShape && c == 'x')
    return 1;
  if (llvm::isAlpha(c) || c == '_') {
    // Options and passes have dashes in their names.
    size_t end = wordEnd(0);
    while (end + 1 < text.size() && text[end] == '-' &&
           llvm::isAlpha(text[end + 1]))
      end = wordEnd(end + 1);
    return end;
  }
  size_t sign = c == '-' ? 1 : 0;
  if (text.size() > sign && llvm::isDigit(text[sign])) {
    if (text.substr(sign).starts_with("0x") && text.size() > sign + 2 &&
        llvm::isHexDigit(text[sign + 2]) && !inShape)
      return wordEnd(sign);
    size_t end = sign;
    while (end < text.size() &&
           (llvm::isDigit(text[end]) || text[end] == '.' ||
            ((text[end] == '-' || text[end] == '+') && text[end - 1] == 'e') ||
            (text[end] == 'e' && end + 1 < text.size() &&
             (text[end + 1] == '-' || text[end + 1] == '+'))))
      ++end;
    return end;
  }
  for (StringRef mark : {"->", "::", "==", ">=", "<="})
    if (text.starts_with(mark))
      return mark.size();
  return 1;
}

static Token::Kind getKind(StringRef token) {
  char c = token.front();
  if (c == '"')
    return Token::Kind::String;
  if (c == '%')
    return Token::Kind::Value;
  if (c == '@' || c == '^')
    return Token::Kind::Symbol;
  if (llvm::isDigit(c) || c == '?' ||
      (c == '-' && token.size() > 1 && llvm::isDigit(token[1])))
    return Token::Kind::Number;
  return llvm::isAlpha(c) || c == '_' || c == '!' || c == '#'
             ? Token::Kind::Word
             : Token::Kind::Mark;
}

Tokens attune::fuzz::tokenize(StringRef text) {
  Tokens tokens;
  std::string blanks;
  while (!text.empty()) {
    if (llvm::isSpace(text.front()) || text.front() == '\0') {
      blanks += text.front();
      text = text.drop_front();
      continue;
    }
    if (text.starts_with("//")) {
      text = text.drop_until([](char c) { return c == '\n'; });
      continue;
    }
    bool inShape = blanks.empty() && !tokens.empty() &&
                   tokens.back().kind == Token::Kind::Number;
    StringRef token = text.take_front(getLength(text, inShape));
    tokens.push_back({getKind(token), blanks, token.str()});
    blanks.clear();
    text = text.drop_front(token.size());
  }
  return tokens;
}

static std::string join(const Tokens &tokens, Range range) {
  std::string text;
  for (size_t i = range.begin; i < range.end; ++i)
    text += tokens[i].blanks + tokens[i].text;
  return StringRef(text).trim().str();
}

/// For each bracket that opens, the one that closes it.
static std::map<size_t, size_t> findBrackets(const Tokens &tokens) {
  std::map<size_t, size_t> pairs;
  std::vector<size_t> open;
  for (auto [i, token] : llvm::enumerate(tokens)) {
    if (token.kind != Token::Kind::Mark || token.text.size() != 1)
      continue;
    size_t opens = StringRef("(<[{").find(token.text);
    size_t closes = StringRef(")>]}").find(token.text);
    if (opens != StringRef::npos)
      open.push_back(i);
    else if (closes != StringRef::npos && !open.empty()) {
      pairs[open.back()] = i;
      open.pop_back();
    }
  }
  return pairs;
}

static bool isScalar(StringRef word) {
  static constexpr StringRef scalars[] = {
      "index", "i1",  "i8",   "i16",        "i32",  "i64",     "bf16",
      "f16",   "f32", "f64",  "f8E4M3FNUZ", "si32", "f8E5M2",  "f4E2M1FN",
      "ui8",   "i4",  "tf32", "i128",       "none", "f8E4M3FN"};
  return llvm::is_contained(scalars, word);
}

/// What may stand in the place of a type or attribute: equal for those that
/// may, as far as the text tells.
static StringRef getClass(StringRef part) {
  if (isScalar(part))
    return "scalar";
  StringRef name = part.take_until([](char c) { return c == '<'; });
  if (name == "tensor" || name == "memref" || name == "vector")
    return "shaped";
  // A type or attribute of any dialect.
  return name.starts_with("!") || name.starts_with("#") ? name.take_front()
                                                        : name;
}

/// Types and attributes with their parameters, if they have some.
static std::vector<Range> findParts(const Tokens &tokens) {
  std::map<size_t, size_t> pairs = findBrackets(tokens);
  std::vector<Range> parts;
  for (auto [i, token] : llvm::enumerate(tokens)) {
    if (token.kind != Token::Kind::Word)
      continue;
    StringRef word = token.text;
    auto closing = pairs.find(i + 1);
    bool hasParameters = closing != pairs.end() && tokens[i + 1].text == "<" &&
                         tokens[i + 1].blanks.empty();
    if (hasParameters)
      parts.push_back({i, closing->second + 1});
    else if (word.starts_with("!") || word.starts_with("#") || isScalar(word))
      parts.push_back({i, i + 1});
  }
  return parts;
}

/// What commas separate in each pair of brackets that holds at least one token.
static std::vector<std::vector<Range>> findLists(const Tokens &tokens) {
  std::map<size_t, size_t> pairs = findBrackets(tokens);
  std::vector<std::vector<Range>> lists;
  for (auto [opening, closing] : pairs) {
    std::vector<Range> list;
    size_t begin = opening + 1;
    for (size_t i = begin; i < closing; ++i) {
      if (auto inner = pairs.find(i); inner != pairs.end())
        i = inner->second;
      else if (tokens[i].text == ",") {
        list.push_back({begin, i});
        begin = i + 1;
      }
    }
    if (begin < closing)
      list.push_back({begin, closing});
    if (!list.empty())
      lists.push_back(std::move(list));
  }
  return lists;
}

/// Lines, each with the lines that brackets it opens reach to.
static std::vector<Range> findStatements(const Tokens &tokens) {
  std::map<size_t, size_t> pairs = findBrackets(tokens);
  std::vector<Range> statements;
  auto startsLine = [&](size_t i) {
    return i == 0 || StringRef(tokens[i].blanks).contains('\n');
  };
  for (size_t begin = 0; begin < tokens.size(); ++begin) {
    if (!startsLine(begin))
      continue;
    size_t end = begin;
    do {
      auto inner = pairs.find(end);
      end = inner == pairs.end() ? end + 1 : inner->second + 1;
    } while (end < tokens.size() && !startsLine(end));
    statements.push_back({begin, end});
  }
  return statements;
}

std::optional<std::string> attune::fuzz::dropStatement(StringRef text,
                                                       size_t number) {
  Tokens tokens = tokenize(text);
  std::vector<Range> statements = findStatements(tokens);
  if (number >= statements.size())
    return std::nullopt;
  tokens.erase(tokens.begin() + statements[number].begin,
               tokens.begin() + statements[number].end);
  return join(tokens, {0, tokens.size()});
}

static void replace(Tokens &tokens, Range range, StringRef text) {
  Tokens inserted = tokenize(text);
  if (!inserted.empty() && range.begin < tokens.size())
    inserted.front().blanks = range.begin < range.end
                                  ? tokens[range.begin].blanks
                                  : (text.contains('\n') ? "\n" : " ");
  tokens.erase(tokens.begin() + range.begin, tokens.begin() + range.end);
  tokens.insert(tokens.begin() + range.begin, inserted.begin(), inserted.end());
}

void Mutator::learn(StringRef text) {
  Tokens tokens = tokenize(text);
  auto add = [&](std::vector<std::string> &list, std::string item,
                 size_t longest) {
    if (item.size() <= longest && known.insert(item).second)
      list.push_back(std::move(item));
  };
  for (Range range : findParts(tokens))
    add(parts, join(tokens, range), 400);
  for (const std::vector<Range> &list : findLists(tokens))
    for (Range range : list)
      if (range.end - range.begin > 2 && tokens[range.begin + 1].text == "=")
        add(entries, join(tokens, range), 400);
  for (Range range : findStatements(tokens))
    add(statements, join(tokens, range), 1000);
  for (auto [i, token] : llvm::enumerate(tokens)) {
    if (token.kind == Token::Kind::String)
      add(strings, token.text, 100);
    if (i == 0 || token.kind == Token::Kind::Value)
      continue;
    std::vector<std::string> &after = successors[tokens[i - 1].text];
    if (after.size() < 60 && !llvm::is_contained(after, token.text))
      after.push_back(token.text);
  }
}

bool Mutator::changeNumber(Tokens &tokens, Random &random) const {
  std::vector<size_t> places;
  for (auto [i, token] : llvm::enumerate(tokens))
    if (token.kind == Token::Kind::Number)
      places.push_back(i);
  if (places.empty())
    return false;
  static const std::vector<std::string> integers = {"0",
                                                    "1",
                                                    "2",
                                                    "3",
                                                    "7",
                                                    "16",
                                                    "17",
                                                    "48",
                                                    "64",
                                                    "127",
                                                    "128",
                                                    "256",
                                                    "1000",
                                                    "65536",
                                                    "2147483647",
                                                    "2147483648",
                                                    "4294967296",
                                                    "-1",
                                                    "-9223372036854775808",
                                                    "4611686018427387904",
                                                    "9223372036854775807",
                                                    "18446744073709551615",
                                                    "99999999999999999999"};
  static const std::vector<std::string> floats = {
      "0.0", "-1.5", "1e308", "1e39", "0x7FC00000", "0xFF800000", "1e-45", "1"};
  size_t at = random.pick(places);
  const std::string old = tokens[at].text;
  bool inShape = at + 1 < tokens.size() && tokens[at + 1].text == "x" &&
                 tokens[at + 1].blanks.empty();
  std::string text =
      random.pick(StringRef(old).contains('.') ? floats : integers);
  constexpr int64_t kLarge = int64_t(1) << 40;
  int64_t number;
  if (inShape && random.chance(15)) {
    text = "?";
  } else if (random.chance(40) && !StringRef(old).getAsInteger(10, number) &&
             number > -kLarge && number < kLarge) {
    std::array<int64_t, 6> values = {number + 1, number - 1, 2 * number,
                                     number / 2, -number,    number * 65537};
    text = std::to_string(random.pick(values));
  }
  bool everywhere = random.chance(inShape ? 80 : 40);
  for (size_t place : places)
    if (place == at || (everywhere && tokens[place].text == old))
      tokens[place].text = text;
  return true;
}

bool Mutator::changePart(Tokens &tokens, Random &random) const {
  std::vector<Range> places = findParts(tokens);
  if (places.empty() || parts.empty())
    return false;
  std::string old = join(tokens, random.pick(places));
  std::string text = random.pick(parts);
  bool anyClass = random.chance(5);
  for (unsigned i = 0; i < 100 && !anyClass && getClass(text) != getClass(old);
       ++i)
    text = random.pick(parts);
  bool everywhere = random.chance(70);
  for (size_t i = places.size(); i-- > 0;)
    if (places[i].end <= tokens.size() && join(tokens, places[i]) == old &&
        (everywhere || random.chance(40)))
      replace(tokens, places[i], text);
  return true;
}

bool Mutator::changeElements(Tokens &tokens, Random &random) const {
  std::vector<std::vector<Range>> lists = findLists(tokens);
  if (lists.empty())
    return false;
  const std::vector<Range> &list = random.pick(lists);
  Range range = random.pick(list);
  std::string text = join(tokens, range);
  switch (random.below(5)) {
  case 0: { // without it
    size_t last = tokens[range.end].text == "," ? range.end + 1 : range.end;
    tokens.erase(tokens.begin() + range.begin, tokens.begin() + last);
    return true;
  }
  case 1: // twice
    replace(tokens, {range.begin, range.begin}, text + ", ");
    return true;
  case 2: { // exchanged
    Range other = random.pick(list);
    if (other.begin == range.begin)
      return false;
    if (other.begin < range.begin)
      std::swap(range, other);
    std::string first = join(tokens, range), second = join(tokens, other);
    replace(tokens, other, first);
    replace(tokens, range, second);
    return true;
  }
  case 3: // one from elsewhere
    if (entries.empty())
      return false;
    replace(tokens, {range.begin, range.begin}, random.pick(entries) + ", ");
    return true;
  default: { // another in its place
    const std::vector<Range> &others = random.pick(lists);
    replace(tokens, range, join(tokens, random.pick(others)));
    return true;
  }
  }
}

bool Mutator::changeWord(Tokens &tokens, Random &random) const {
  size_t at = random.below(tokens.size());
  for (unsigned i = 0; i < 20 && tokens[at].kind != Token::Kind::Word &&
                       tokens[at].kind != Token::Kind::String;
       ++i)
    at = random.below(tokens.size());
  if (tokens[at].kind == Token::Kind::String && !strings.empty()) {
    tokens[at].text = random.pick(strings);
    return true;
  }
  auto found = successors.find(at == 0 ? "" : tokens[at - 1].text);
  if (found == successors.end() || found->second.empty())
    return false;
  tokens[at].text = random.pick(found->second);
  return true;
}

bool Mutator::changeName(Tokens &tokens, Random &random) const {
  std::vector<size_t> places;
  for (auto [i, token] : llvm::enumerate(tokens))
    if (token.kind == Token::Kind::Value || token.kind == Token::Kind::Symbol)
      places.push_back(i);
  if (places.empty())
    return false;
  tokens[random.pick(places)].text = tokens[random.pick(places)].text;
  return true;
}

bool Mutator::changeStatement(Tokens &tokens, Random &random) const {
  std::vector<Range> places = findStatements(tokens);
  Range range = random.pick(places);
  std::string text = join(tokens, range);
  auto insert = [&](size_t at, const std::string &statement) {
    replace(tokens, {at, at}, "\n" + statement + "\n");
  };
  switch (random.below(4)) {
  case 0:
    break;
  case 1:
    insert(random.pick(places).begin, text);
    return true;
  case 2:
    if (!statements.empty())
      insert(range.begin, random.pick(statements));
    return true;
  default: { // moved
    Range other = random.pick(places);
    if (other.begin >= range.end) {
      insert(other.begin, text);
      break;
    }
    tokens.erase(tokens.begin() + range.begin, tokens.begin() + range.end);
    if (other.end <= range.begin)
      insert(other.begin, text);
    return true;
  }
  }
  tokens.erase(tokens.begin() + range.begin, tokens.begin() + range.end);
  return true;
}

bool Mutator::changeToken(Tokens &tokens, Random &random) const {
  size_t at = random.below(tokens.size());
  if (random.chance(40)) {
    tokens.erase(tokens.begin() + at);
    return true;
  }
  auto found = successors.find(tokens[at].text);
  std::string text = found == successors.end() ? random.pick(tokens).text
                                               : random.pick(found->second);
  replace(tokens, {at + 1, at + 1}, text);
  return true;
}

void Mutator::change(Tokens &tokens, Random &random) const {
  using Change = bool (Mutator::*)(Tokens &, Random &) const;
  // By how often each leads to what is valid, and new.
  static const std::vector<Change> changes = {
      &Mutator::changeNumber,    &Mutator::changeNumber,
      &Mutator::changeNumber,    &Mutator::changePart,
      &Mutator::changePart,      &Mutator::changePart,
      &Mutator::changeElements,  &Mutator::changeElements,
      &Mutator::changeWord,      &Mutator::changeWord,
      &Mutator::changeName,      &Mutator::changeStatement,
      &Mutator::changeStatement, &Mutator::changeToken};
  for (unsigned i = 0; i < 10 && !tokens.empty(); ++i)
    if ((this->*random.pick(changes))(tokens, random))
      return;
}

std::string Mutator::mutate(StringRef text, Random &random) const {
  Tokens tokens = tokenize(text);
  do
    change(tokens, random);
  while (random.chance(35));
  return join(tokens, {0, tokens.size()});
}
