// The standard library, where none is installed: as far as types follow from it.
#ifndef STALLSCOPE_STUBS_STD
#define STALLSCOPE_STUBS_STD
#ifdef __cplusplus
#include <stddef.h>
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
struct FILE;
extern FILE *stdin, *stdout, *stderr;
extern "C" {
int printf(const char*, ...);
int fprintf(FILE*, const char*, ...);
int snprintf(char*, size_t, const char*, ...);
FILE* fopen(const char*, const char*);
int fclose(FILE*);
size_t fread(void*, size_t, size_t, FILE*);
size_t fwrite(const void*, size_t, size_t, FILE*);
void* malloc(size_t);
void* calloc(size_t, size_t);
void free(void*);
void exit(int);
void* memcpy(void*, const void*, size_t);
void* memset(void*, int, size_t);
int setenv(const char*, const char*, int);
char* getenv(const char*);
int atoi(const char*);
double atof(const char*);
float sqrtf(float);
float expf(float);
float logf(float);
double sqrt(double);
double exp(double);
double log(double);
double pow(double, double);
}
#define assert(x) ((void)0)
namespace std {
using ::size_t; using ::ptrdiff_t; using ::int64_t; using ::int32_t; using ::uint64_t; using ::uint32_t;
using ::uint8_t; using ::memcpy; using ::printf; using ::malloc; using ::free; using ::exit; using ::getenv;
template <class T> struct remove_reference { using type = T; };
template <class T> struct remove_reference<T&> { using type = T; };
template <class T> struct remove_reference<T&&> { using type = T; };
template <class T> typename remove_reference<T>::type&& move(T&&);
template <class T> T&& forward(typename remove_reference<T>::type&);
template <class T> class initializer_list {
  const T* begin_; size_t size_;
 public:
  const T* begin() const; const T* end() const; size_t size() const;
};
template <class A, class B> struct pair { A first; B second; };
template <class A, class B> pair<A, B> make_pair(A, B);
template <class... T> class tuple { public: tuple(); tuple(T...); };
template <class... T> tuple<T...> make_tuple(T...);
template <class T> class allocator {};
template <class C> class basic_string {
 public:
  basic_string(); basic_string(const C*);
  basic_string& operator+=(const basic_string&); basic_string& operator+=(C);
  const C* c_str() const; size_t size() const; size_t length() const; bool empty() const;
  C& operator[](size_t); basic_string substr(size_t, size_t = -1) const; size_t find(const basic_string&, size_t = 0) const;
  C* begin(); C* end();
};
template <class C> basic_string<C> operator+(const basic_string<C>&, const basic_string<C>&);
template <class C> basic_string<C> operator+(const basic_string<C>&, const C*);
template <class C> basic_string<C> operator+(const C*, const basic_string<C>&);
template <class C> bool operator==(const basic_string<C>&, const basic_string<C>&);
template <class C> bool operator==(const basic_string<C>&, const C*);
using string = basic_string<char>;
template <class T> string to_string(T);
int stoi(const string&); float stof(const string&);
template <class T, class A = allocator<T>> class vector {
 public:
  vector(); explicit vector(size_t); vector(size_t, const T&); vector(initializer_list<T>);
  template <class I> vector(I, I);
  T* begin(); T* end(); const T* begin() const; const T* end() const;
  T& operator[](size_t); const T& operator[](size_t) const; T& at(size_t); T& front(); T& back();
  T* data(); const T* data() const; size_t size() const; bool empty() const;
  void push_back(const T&); template <class... U> T& emplace_back(U&&...); void pop_back();
  void resize(size_t); void reserve(size_t); void clear();
  template <class I> void insert(T*, I, I); void erase(T*);
};
template <class T, size_t N> struct array {
  T items[N];
  T* begin(); T* end(); T& operator[](size_t); T* data(); size_t size() const;
};
template <class K, class V> class map {
 public:
  pair<const K, V>* begin(); pair<const K, V>* end(); V& operator[](const K&); V& at(const K&);
  pair<const K, V>* find(const K&); size_t count(const K&) const; size_t size() const; bool empty() const; void clear();
};
template <class K, class V> class unordered_map : public map<K, V> {};
template <class T> class set { public: T* begin(); T* end(); void insert(const T&); size_t count(const T&) const; };
template <class T> class unordered_set : public set<T> {};
template <class T> class shared_ptr {
 public:
  shared_ptr(); shared_ptr(decltype(nullptr)); explicit shared_ptr(T*); template <class U> shared_ptr(const shared_ptr<U>&);
  T* operator->() const; T& operator*() const; T* get() const; explicit operator bool() const; void reset();
};
template <class T> class unique_ptr {
 public:
  unique_ptr(); unique_ptr(decltype(nullptr)); explicit unique_ptr(T*); template <class U> unique_ptr(unique_ptr<U>&&);
  T* operator->() const; T& operator*() const; T* get() const; explicit operator bool() const; void reset(T* = nullptr);
};
template <class T, class... A> shared_ptr<T> make_shared(A&&...);
template <class T, class... A> unique_ptr<T> make_unique(A&&...);
struct nullopt_t {};
constexpr nullopt_t nullopt{};
template <class T> class optional {
 public:
  optional(); optional(nullopt_t); optional(const T&);
  T& operator*(); T* operator->(); T& value(); bool has_value() const; explicit operator bool() const;
};
template <class F> class function;
template <class R, class... A> class function<R(A...)> {
 public:
  function(); template <class F> function(F); R operator()(A...) const; explicit operator bool() const;
};
template <class C> class basic_ostream {
 public:
  template <class T> basic_ostream& operator<<(const T&);
  basic_ostream& operator<<(basic_ostream& (*)(basic_ostream&));
};
using ostream = basic_ostream<char>;
ostream& endl(ostream&); ostream& flush(ostream&);
extern ostream cout, cerr, clog;
template <class C> class basic_stringstream : public basic_ostream<C> { public: basic_string<C> str() const; };
using stringstream = basic_stringstream<char>; using ostringstream = basic_stringstream<char>;
template <class T> const T& max(const T&, const T&);
template <class T> const T& min(const T&, const T&);
template <class T> void swap(T&, T&);
template <class T> T abs(T);
double sqrt(double); double exp(double); double log(double); double pow(double, double);
struct mutex { void lock(); void unlock(); };
template <class M> struct lock_guard { explicit lock_guard(M&); };
class thread { public: template <class F, class... A> explicit thread(F, A...); void join(); };
struct exception { virtual const char* what() const; };
struct runtime_error : exception { explicit runtime_error(const string&); };
struct invalid_argument : exception { explicit invalid_argument(const string&); };
namespace chrono {
struct duration { double count() const; };
struct time_point { duration operator-(const time_point&) const; };
struct high_resolution_clock { static time_point now(); };
struct steady_clock { static time_point now(); };
struct system_clock { static time_point now(); };
}  // namespace chrono
}  // namespace std
#endif
#endif
