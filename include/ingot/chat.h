// SPDX-License-Identifier: MIT
// Chat templates for C: the messages of a conversation to the prompt, and to token ids. Link
// ingot_text (`pkg-config ingot-text`).
//
// The rules of ingot.h on results, arguments, ownership, text and threads hold here. A template
// is independent of the model that it was made from; any number of threads may render one at once.
//
//   ingot_chat_value* messages;
//   if (ingot_chat_value_make(&messages, &error) != INGOT_OK) return 1;
//   ingot_chat_begin_list(messages);
//   ingot_chat_add_message(messages, "user", (ingot_string){"Hello", 5});
//   ingot_chat_end(messages);
//   ingot_chat_text* prompt;
//   if (ingot_chat_render(chat, messages, NULL, &prompt, NULL, &error) != INGOT_OK) return 1;
//   ingot_chat_encode(tokenizer, prompt, 0, ids, NULL, capacity, &count, &error);
#ifndef INGOT_CHAT_H
#define INGOT_CHAT_H

// NOLINTBEGIN(modernize-deprecated-headers, modernize-use-using): this is C.

#include <stddef.h>
#include <stdint.h>

#include "ingot/export.h"
#include "ingot/ingot.h"
#include "ingot/tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- values
// ----------------------------------------------------------------------------------------

/// A JSON value, built piece by piece: calls between a begin and its end add to its inside. Only
/// one thread may build it.
typedef struct ingot_chat_value ingot_chat_value;

/// Makes an empty value, which is none. End it with ingot_chat_value_free.
INGOT_EXPORT ingot_code ingot_chat_value_make(ingot_chat_value** value, ingot_error* error);

/// Ends a value. NULL is fine.
INGOT_EXPORT void ingot_chat_value_free(ingot_chat_value* value);

/// The steps of building. A step that cannot be (an end without a begin, a member without a key, a
/// second value beside the first, more than 200 levels, memory that runs out) is kept until the
/// value is used, which then fails: no step has to be checked. NULL is fine.
INGOT_EXPORT void ingot_chat_begin_list(ingot_chat_value* value);
INGOT_EXPORT void ingot_chat_begin_object(ingot_chat_value* value);
INGOT_EXPORT void ingot_chat_end(ingot_chat_value* value);

/// Names the next value of an object.
INGOT_EXPORT void ingot_chat_key(ingot_chat_value* value, ingot_string key);

INGOT_EXPORT void ingot_chat_add_none(ingot_chat_value* value);
INGOT_EXPORT void ingot_chat_add_bool(ingot_chat_value* value, bool flag);
INGOT_EXPORT void ingot_chat_add_integer(ingot_chat_value* value, int64_t number);
INGOT_EXPORT void ingot_chat_add_real(ingot_chat_value* value, double number);
/// The text is copied.
INGOT_EXPORT void ingot_chat_add_string(ingot_chat_value* value, ingot_string text);
/// An integer beyond 64 bits by its digits: a template can print it and not calculate.
INGOT_EXPORT void ingot_chat_add_digits(ingot_chat_value* value, ingot_string digits);

/// An object with `role` and `content`.
INGOT_EXPORT void ingot_chat_add_message(ingot_chat_value* value, const char* role,
                                         ingot_string content);

// --- templates
// -------------------------------------------------------------------------------------

/// A template.
typedef struct ingot_chat_template ingot_chat_template;

/// The place of an error in a template; its members are 0 if the error has no place.
typedef struct ingot_chat_place {
  uint32_t line;    ///< Counted from 1.
  uint32_t column;  ///< Characters, from 1.
} ingot_chat_place;

/// Makes the template of a model.
///
/// @param name   of `tokenizer.chat_template.NAME`; NULL or "" for the default one.
/// @param place  receives the place of a syntax error; may be NULL.
/// @return  INGOT_ERROR_CHAT_MISSING if there is no such template, INGOT_ERROR_CHAT_SYNTAX,
///          INGOT_ERROR_LIMIT_EXCEEDED for more than 1 MiB.
INGOT_EXPORT ingot_code ingot_chat_template_make(const ingot_model* model, const char* name,
                                                 ingot_chat_template** chat,
                                                 ingot_chat_place* place, ingot_error* error);

/// Makes a template from its text.
INGOT_EXPORT ingot_code ingot_chat_template_make_from_text(ingot_string source,
                                                           ingot_chat_template** chat,
                                                           ingot_chat_place* place,
                                                           ingot_error* error);

/// Ends a template. NULL is fine.
INGOT_EXPORT void ingot_chat_template_free(ingot_chat_template* chat);

/// The text of the template: a view into it; empty for NULL.
INGOT_EXPORT ingot_string ingot_chat_template_source(const ingot_chat_template* chat);

// --- rendering
// -------------------------------------------------------------------------------------

/// Flags of ingot_chat_options.
enum {
  INGOT_CHAT_NO_GENERATION_PROMPT = 1,  ///< Ends behind the last message.
  INGOT_CHAT_LENIENT = 2,  ///< Allows `append` and `pop` on lists that the template made itself.
  INGOT_CHAT_HAS_TIME = 4  ///< `year` to `second` are the time; else it is the clock's.
};

/// The options for rendering. Begin with `{.struct_size = sizeof options}`; a member that is 0 has
/// its default.
typedef struct ingot_chat_options {
  size_t struct_size;             ///< sizeof(ingot_chat_options)
  uint32_t flags;                 ///< INGOT_CHAT_...
  uint32_t max_depth;             ///< Macros that call one another; default 200, which is the most.
  const ingot_chat_value* tools;  ///< A list, or NULL.
  const ingot_chat_value* variables;  ///< An object of further variables, or NULL. They go first.
  int32_t year;
  int32_t month;  ///< Counted from 1.
  int32_t day;    ///< Counted from 1.
  int32_t hour;
  int32_t minute;
  int32_t second;
  uint64_t max_steps;         ///< About one per operation; default 10 million.
  uint64_t max_output_bytes;  ///< Default 64 MiB.
  uint64_t max_memory_bytes;  ///< The limit for all values of one rendering; default 256 MiB.
} ingot_chat_options;

/// A prompt.
typedef struct ingot_chat_text ingot_chat_text;

/// Renders a conversation.
///
/// @param messages  a list of objects with `role` and `content`; if NULL,
///                  `options->variables` holds all variables.
/// @param options   NULL for the defaults.
/// @param text      receives the prompt; end it with ingot_chat_text_free.
/// @param place     receives the place of an error; may be NULL.
/// @return  INGOT_ERROR_CHAT_RAISED if the template refuses the conversation, with its words in the
///          message; INGOT_ERROR_CHAT_UNDEFINED, _SECURITY, _FAILED; INGOT_ERROR_LIMIT_EXCEEDED;
///          INGOT_ERROR_INVALID_ARGUMENT for a value that is not complete.
///
/// The calling thread needs a stack of 4 MiB for hostile templates.
INGOT_EXPORT ingot_code ingot_chat_render(const ingot_chat_template* chat,
                                          const ingot_chat_value* messages,
                                          const ingot_chat_options* options, ingot_chat_text** text,
                                          ingot_chat_place* place, ingot_error* error);

/// Ends a prompt. NULL is fine.
INGOT_EXPORT void ingot_chat_text_free(ingot_chat_text* text);

/// The prompt itself: a view into it; empty for NULL.
INGOT_EXPORT ingot_string ingot_chat_text_bytes(const ingot_chat_text* text);

/// Flags of a run.
enum {
  INGOT_CHAT_RUN_INPUT = 1,     ///< It came from a message or a tool, and not from the template.
  INGOT_CHAT_RUN_GENERATED = 2  ///< It is inside of {% generation %}.
};

/// A stretch of a prompt. Runs cover it without gaps, in order.
typedef struct ingot_chat_run {
  uint64_t offset_bytes;
  uint64_t size_bytes;
  uint32_t flags;     ///< INGOT_CHAT_RUN_...
  uint32_t reserved;  ///< 0
} ingot_chat_run;

/// The number of runs of a prompt; 0 for NULL.
INGOT_EXPORT size_t ingot_chat_run_count(const ingot_chat_text* text);

/// INGOT_ERROR_INDEX_OUT_OF_RANGE if there is no such run.
INGOT_EXPORT ingot_code ingot_chat_get_run(const ingot_chat_text* text, size_t index,
                                           ingot_chat_run* run, ingot_error* error);

// --- ids
// -------------------------------------------------------------------------------------------

/// Flags of ingot_chat_encode, beside INGOT_ADD_SPECIAL: whether control tokens in inputs, and
/// tokens with bytes of template and input, are allowed. By default the first are not.
enum {
  INGOT_CHAT_INPUTS_APART = 32,   ///< Neither of them.
  INGOT_CHAT_INPUTS_TRUSTED = 64  ///< Both, as in Hugging Face's library.
};

/// The ids of a prompt. A control token comes from the template, never from an input.
///
/// @param flags         INGOT_ADD_SPECIAL: add bos and eos where the file wants them and the
///                      template has written none; INGOT_CHAT_INPUTS_...
/// @param ids           room for `capacity` ids; NULL only if that is 0.
/// @param is_generated  room for as many bytes, which become 1 for ids from inside of
///                      {% generation %} and else 0; may be NULL.
/// @param count         receives how many ids there are; the first `capacity` of them are written.
INGOT_EXPORT ingot_code ingot_chat_encode(const ingot_tokenizer* tokenizer,
                                          const ingot_chat_text* text, uint32_t flags,
                                          ingot_token* ids, uint8_t* is_generated, size_t capacity,
                                          size_t* count, ingot_error* error);

#ifdef __cplusplus
}  // extern "C"
#endif

// NOLINTEND(modernize-deprecated-headers, modernize-use-using)

#endif
